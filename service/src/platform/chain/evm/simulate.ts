import type { Hex } from 'viem';
import type { EvmChain } from './client.ts';
import { callNode } from './node-call.ts';

/** Throws `contract_reverted` if the transaction would fail against the latest block. */
export async function simulate(
  chain: EvmChain,
  transaction: { from: Hex; to: Hex; data: Hex },
): Promise<void> {
  await callNode(chain, 'eth_call', [transaction, 'latest']);
}
