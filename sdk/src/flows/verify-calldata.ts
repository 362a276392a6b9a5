import type { CalldataClaim, Verdict } from '@causeway/contracts/encodings/verify-calldata.ts';
import type { Eip1193Provider } from './wallet.ts';

/** Loads the verifier, which only tokenized purchases need. A purchase loads it before the user pays for anything. */
export const loadVerifier = () => import('@causeway/contracts/encodings/verify-calldata.ts');

/**
 * Checks the signers, wallet, cost, output and expiry in tokenized-asset calldata against the chain. Needs only viem
 * and an EIP-1193 provider, so this function runs anywhere. Throws only if the provider fails.
 *
 * @example
 * ```ts
 * import type { createCauseway } from '@causeway/sdk';
 * import { type EvmWallet, verifyCalldata } from '@causeway/sdk/flows';
 *
 * export async function check(causeway: ReturnType<typeof createCauseway>, wallet: EvmWallet) {
 *   const order = { symbol: 'AAPLon', chain: 'ethereum_sepolia', amount: '100500000' } as const;
 *   const reply = await causeway.tokenized.transaction({ ...order, wallet_address: wallet.address });
 *   const { ok, findings } = await verifyCalldata(wallet.provider, { ...reply, wallet: wallet.address });
 *   console.log(ok ? 'as ordered' : findings);
 * }
 * ```
 */
export async function verifyCalldata(node: Eip1193Provider, claim: CalldataClaim): Promise<Verdict> {
  return (await loadVerifier()).verifyCalldata(node, claim);
}
