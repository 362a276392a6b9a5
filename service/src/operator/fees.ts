import { hexToBigInt, isHex } from 'viem/utils';
import type { EvmChain } from '../chain/evm/client.ts';
import { Blocked } from './blocked.ts';

/** EIP-1559, in wei per unit of gas. */
export type Fees = { maxFee: bigint; priorityFee: bigint };

const GWEI = 1_000_000_000n;

/** Enough for six full blocks in a row, at most `cap`; throws `Blocked` when the chain asks for more than the cap. */
export async function proposeFees({ rpc, name }: EvmChain, cap: bigint): Promise<Fees> {
  const [block, tip] = await rpc.batch([
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    { method: 'eth_maxPriorityFeePerGas', params: [] },
  ]);
  const base =
    block && 'result' in block
      ? (block.result as { baseFeePerGas?: unknown } | null)?.baseFeePerGas
      : undefined;
  if (!isHex(base)) throw new Error(`${name} did not tell its base fee`);
  const baseFee = hexToBigInt(base);
  // Not every node knows this method.
  const asked = tip && 'result' in tip && isHex(tip.result) ? hexToBigInt(tip.result) : GWEI;
  if (baseFee > cap)
    throw new Blocked('fee_cap', `the base fee of ${name} is ${baseFee}, above the cap ${cap}`);
  const priorityFee = min(asked, cap - baseFee);
  return { maxFee: min(2n * baseFee + priorityFee, cap), priorityFee };
}

/** Nodes take a replacement only when both fees grow by an eighth. Null when the cap leaves no room. */
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
