import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Chain } from './chain.ts';

/** A transaction that the sandbox itself sends. Without `to`, the transaction creates a contract. */
export type PlannedTransaction = { to?: Hex; data?: Hex; value?: bigint };

const GAS_LIMIT = 10_000_000n;
const MAX_FEE_PER_GAS = 1_000_000_000_000n;
const POLL_INTERVAL_MS = 20;

/** Signs and sends a transaction and waits until it is mined. Fees are fixed, so that block hashes are reproducible. */
export async function transact(
  chain: Chain,
  account: PrivateKeyAccount,
  transaction: PlannedTransaction & { chainId: number; nonce: number },
): Promise<{ hash: Hex; status: 'success' | 'reverted' }> {
  const raw = await account.signTransaction({
    type: 'eip1559',
    gas: GAS_LIMIT,
    maxFeePerGas: MAX_FEE_PER_GAS,
    maxPriorityFeePerGas: 0n,
    ...transaction,
  });
  const hash = (await chain.request({ method: 'eth_sendRawTransaction', params: [raw] })) as Hex;
  for (;;) {
    const receipt = await chain.request({ method: 'eth_getTransactionReceipt', params: [hash] });
    if (receipt)
      return { hash, status: (receipt as { status: Hex }).status === '0x1' ? 'success' : 'reverted' };
    await sleep(POLL_INTERVAL_MS);
  }
}

export async function nextNonce(chain: Chain, address: Hex): Promise<number> {
  return Number(await chain.request({ method: 'eth_getTransactionCount', params: [address, 'pending'] }));
}
