import { hexToBigInt, isHex } from 'viem/utils';
import type { EvmChain } from '../chain/evm/client.ts';
import { Blocked } from './blocked.ts';

/** EIP-1559 fees in wei per unit of gas. */
export type Fees = { maxFee: bigint; priorityFee: bigint };

const DEFAULT_PRIORITY_FEE = 1_000_000_000n;

/**
 * Proposes fees that stay valid for six full blocks in a row, limited to `cap`. Throws `Blocked` if the base fee alone
 * exceeds the cap.
 */
export async function proposeFees({ rpc, name }: EvmChain, cap: bigint): Promise<Fees> {
  const [block, tip] = await rpc.batch([
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    { method: 'eth_maxPriorityFeePerGas', params: [] },
  ]);
  const baseFeeHex =
    block && 'result' in block
      ? (block.result as { baseFeePerGas?: unknown } | null)?.baseFeePerGas
      : undefined;
  if (!isHex(baseFeeHex)) throw new Error(`the latest block of ${name} has no base fee`);
  const baseFee = hexToBigInt(baseFeeHex);
  // Not every node supports eth_maxPriorityFeePerGas.
  const suggested =
    tip && 'result' in tip && isHex(tip.result) ? hexToBigInt(tip.result) : DEFAULT_PRIORITY_FEE;
  if (baseFee > cap)
    throw new Blocked('fee_cap', `the base fee on ${name} is ${baseFee} wei, above the cap of ${cap} wei`);
  const priorityFee = min(suggested, cap - baseFee);
  return { maxFee: min(2n * baseFee + priorityFee, cap), priorityFee };
}

/** Returns fees for a replacement, which nodes accept only if both fees grow by an eighth; null if that exceeds `cap`. */
export function raiseFees(previous: Fees, proposed: Fees, cap: bigint): Fees | null {
  const raise = (fee: bigint) => fee + fee / 8n + 1n;
  const maxFee = max(raise(previous.maxFee), proposed.maxFee);
  const priorityFee = max(raise(previous.priorityFee), proposed.priorityFee);
  return maxFee > cap ? null : { maxFee, priorityFee: min(priorityFee, maxFee) };
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
