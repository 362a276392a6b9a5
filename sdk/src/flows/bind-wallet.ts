import { CHAINS, isEvmChain } from '../chains.ts';
import type { Causeway } from '../client.ts';
import type { Chain, EvmChain, OptionAddress } from '../wire.ts';
import { FlowFailure, type FlowOptions, type Progress, runFlow } from './flow.ts';
import { requestChallenge, signEvmMessage, signSolanaMessage } from './proof.ts';
import { connectWallet, openSession } from './session.ts';
import type { EvmWallet, Wallet } from './wallet.ts';

export type BindWalletPhase = 'connecting' | 'challenging' | 'signing' | 'binding';

export type BindWalletInput = {
  offerId: string;
  optionId: string;
  chain: Chain;
  wallet: Wallet;
};

/**
 * Connects a wallet to an offer option, after the wallet's owner has signed a proof of ownership. Sends no transaction.
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

function assertProtocol({ chain, wallet }: BindWalletInput): void {
  if (CHAINS[chain]?.protocol !== wallet.protocol)
    throw new FlowFailure(
      'invalid_input',
      `The wallet's protocol is ${wallet.protocol}, which does not match the chain ${chain}.`,
    );
}

async function prove(
  causeway: Causeway,
  { chain, wallet }: BindWalletInput,
  options: FlowOptions<BindWalletPhase>,
  { enter, reportTransaction }: Progress<BindWalletPhase>,
): Promise<string> {
  const { signal, siwe } = options;
  const challenge = () => {
    enter('challenging');
    return requestChallenge(causeway, { address: wallet.address, chain, siwe }, signal);
  };
  if (wallet.protocol === 'solana' || !isEvmChain(chain)) {
    const message = await challenge();
    enter('signing');
    return signSolanaMessage(wallet as Exclude<Wallet, EvmWallet>, message, signal);
  }
  const session = openSession(causeway, { wallet, chain: chain as EvmChain }, options, reportTransaction);
  await connectWallet(session);
  const message = await challenge();
  enter('signing');
  return signEvmMessage(session, message);
}
