import { CHAINS, isEvmChain } from '../chains.ts';
import type { Causeway } from '../client.ts';
import type { Chain, EvmChain, OptionAddress } from '../wire.ts';
import { type FlowOptions, type Progress, runFlow, Stop } from './flow.ts';
import { askForText, type SignInText, signEvmText, signSolanaText } from './proof.ts';
import { connectWallet, openSession } from './session.ts';
import type { EvmWallet, Wallet } from './wallet.ts';

export type BindWalletPhase = 'connecting' | 'challenging' | 'signing' | 'binding';

export type BindWalletInput = {
  offerId: string;
  optionId: string;
  chain: Chain;
  wallet: Wallet;
  /** For EVM wallets: a sign-in text (ERC-4361) that names your page, which wallets compare with where they are. */
  siwe?: SignInText | undefined;
};

/**
 * Has a wallet prove who owns it and connects it to an offer option. Nothing is sent to a chain.
 *
 * @example
 * ```ts
 * import { createCauseway } from '@causeway/sdk';
 * import { type EvmWallet, proveAndBindWallet } from '@causeway/sdk/flows';
 *
 * export async function bind(causeway: ReturnType<typeof createCauseway>, wallet: EvmWallet) {
 *   const offer = await causeway.offers.get('harbour-quarter');
 *   const option = offer.options.find(({ slug }) => slug === 'syndicate');
 *   const input = { offerId: offer.id, optionId: option?.id ?? '', chain: 'ethereum_sepolia', wallet } as const;
 *   const bound = await proveAndBindWallet(causeway, input, { onPhase: (phase) => console.log(phase) });
 *   console.log(bound.address);
 * }
 * ```
 */
export async function proveAndBindWallet(
  causeway: Causeway,
  input: BindWalletInput,
  options: FlowOptions<BindWalletPhase> = {},
): Promise<OptionAddress> {
  return runFlow(options, 'connecting', async (progress) => {
    const { offerId, optionId, chain, wallet } = input;
    assertProtocol(input);
    const signature = await prove(causeway, input, options, progress);
    progress.enter('binding');
    const proof = { chain, offer_option_id: optionId, signature, wallet_address: wallet.address };
    return causeway.wallets.bind(offerId, proof, { signal: options.signal });
  });
}

function assertProtocol({ chain, wallet, siwe }: BindWalletInput): void {
  if (CHAINS[chain]?.protocol !== wallet.protocol)
    throw new Stop('invalid_input', `A wallet of ${wallet.protocol} has no place on ${chain}.`);
  if (siwe !== undefined && wallet.protocol !== 'ethereum')
    throw new Stop('invalid_input', 'siwe is for EVM wallets.');
}

async function prove(
  causeway: Causeway,
  { chain, wallet, siwe }: BindWalletInput,
  options: FlowOptions<BindWalletPhase>,
  { enter, tell }: Progress<BindWalletPhase>,
): Promise<string> {
  const { signal } = options;
  const askText = () => {
    enter('challenging');
    return askForText(causeway, { address: wallet.address, chain, siwe }, signal);
  };
  if (wallet.protocol === 'solana' || !isEvmChain(chain)) {
    const text = await askText();
    enter('signing');
    return signSolanaText(wallet as Exclude<Wallet, EvmWallet>, text, signal);
  }
  const session = openSession(causeway, { wallet, chain: chain as EvmChain }, options, tell);
  await connectWallet(session);
  const text = await askText();
  enter('signing');
  return signEvmText(session, text);
}
