import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Chain } from './chain.ts';

/** What the sandbox itself sends; no `to` creates a contract. */
export type PlannedTransaction = { to?: Hex; data?: Hex; value?: bigint };

const GAS = 10_000_000n;
const MAX_FEE = 1_000_000_000_000n;

/** Signs and sends one transaction, and waits until it is mined. The fees are fixed, so that it is the same everywhere. */
export async function transact(
  chain: Chain,
  account: PrivateKeyAccount,
  transaction: PlannedTransaction & { chainId: number; nonce: number },
): Promise<{ hash: Hex; status: 'success' | 'reverted' }> {
  const raw = await account.signTransaction({
    type: 'eip1559',
    gas: GAS,
    maxFeePerGas: MAX_FEE,
    maxPriorityFeePerGas: 0n,
    ...transaction,
  });
  const hash = (await chain.request({ method: 'eth_sendRawTransaction', params: [raw] })) as Hex;
  for (;;) {
    const receipt = await chain.request({ method: 'eth_getTransactionReceipt', params: [hash] });
    if (receipt)
      return { hash, status: (receipt as { status: Hex }).status === '0x1' ? 'success' : 'reverted' };
    await sleep(20);
  }
}

export async function nextNonce(chain: Chain, address: Hex): Promise<number> {
  return Number(await chain.request({ method: 'eth_getTransactionCount', params: [address, 'pending'] }));
}
