import type { Causeway } from '../client.ts';
import type { Chain, OptionAddress } from '../wire.ts';
import type { FlowOptions } from './flow.ts';
import type { Wallet } from './wallet.ts';

export type BindWalletPhase = 'connecting' | 'challenging' | 'signing' | 'binding';

export type BindWalletInput = {
  offerId: string;
  optionId: string;
  chain: Chain;
  wallet: Wallet;
  /** For EVM wallets: a sign-in text (ERC-4361) that names your page, which wallets compare with where they are. */
  siwe?: { domain: string; uri: string; statement: string } | undefined;
};

export async function proveAndBindWallet(
  causeway: Causeway,
  input: BindWalletInput,
  options: FlowOptions<BindWalletPhase> = {},
): Promise<OptionAddress> {
  throw new Error(`not yet: ${String([causeway, input, options])}`);
}
