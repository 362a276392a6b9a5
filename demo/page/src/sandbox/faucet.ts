import { CHAINS } from '@causeway/sdk';
import { type ChainConfig, postJson } from '../config.ts';

export const TOKENS_PER_REQUEST = 10_000n;
const ASSETS = ['usd-coin', 'tether'];
/** One unit of each chain's native currency. */
const GAS = { ethereum: 10n ** 18n, solana: 10n ** 9n } as const;

/** Sends test dollars and gas to an address on one chain. */
export async function fundWallet(chain: ChainConfig, address: string): Promise<void> {
  const url = `/sandbox/chains/${chain.chain}/faucet`;
  await postJson(url, { address, amount: GAS[CHAINS[chain.chain].protocol].toString() });
  for (const { asset_id, decimals } of chain.tokens.filter((token) => ASSETS.includes(token.asset_id)))
    await postJson(url, {
      address,
      asset_id,
      amount: (TOKENS_PER_REQUEST * 10n ** BigInt(decimals)).toString(),
    });
}
