import { hexToBigInt, isHex } from 'viem/utils';
import type { EvmChain } from '../chain/evm/client.ts';
import { Blocked } from './blocked.ts';

export type Fees = { maxFee: bigint; priorityFee: bigint };

/** The fee caps in wei per unit of gas: for the total fee, and for the tip to the block producer. */
export type FeeCaps = { maxFee: bigint; maxTip: bigint };

/** The market price of gas in the next block, in wei per unit of gas. */
export type FeeMarket = { baseFee: bigint; tip: bigint };

const DEFAULT_PRIORITY_FEE = 1_000_000_000n;
const HISTORY_BLOCKS = '0x5';
const HISTORY_PERCENTILES = [50];

/** The tip is the median of the latest blocks or what the node suggests, whichever is higher. */
export async function readFeeMarket({ rpc, name }: EvmChain): Promise<FeeMarket> {
  // Failed calls give null: some nodes support only one of `eth_feeHistory` and `eth_maxPriorityFeePerGas`, or neither.
  const [block, history, suggestion] = (
    await rpc.batch([
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
      { method: 'eth_feeHistory', params: [HISTORY_BLOCKS, 'latest', HISTORY_PERCENTILES] },
      { method: 'eth_maxPriorityFeePerGas', params: [] },
    ])
  ).map((reply) => ('result' in reply ? reply.result : null));
  const { baseFeePerGas } = (block ?? {}) as { baseFeePerGas?: unknown };
  if (!isHex(baseFeePerGas)) throw new Error(`the latest block of ${name} has no base fee`);
  const { baseFeePerGas: baseFees, reward } = (history ?? {}) as {
    baseFeePerGas?: unknown[];
    reward?: unknown[][];
  };
  const next = baseFees?.at(-1);
  const baseFee = max(hexToBigInt(baseFeePerGas), isHex(next) ? hexToBigInt(next) : 0n);
  const rewards = (reward ?? []).flatMap(([median]) => (isHex(median) ? [hexToBigInt(median)] : []));
  // Rewards of 0 come from empty blocks and are ignored.
  const paid = rewards.filter((each) => each > 0n).sort((a, b) => (a < b ? -1 : 1));
  const suggested = isHex(suggestion) ? hexToBigInt(suggestion) : DEFAULT_PRIORITY_FEE;
  return { baseFee, tip: max(suggested, paid[Math.floor(paid.length / 2)] ?? 0n) };
}

/**
 * High enough for six full blocks in a row, as far as the caps allow. Throws `Blocked` if the base fee alone exceeds
 * the cap.
 */
export async function proposeFees(chain: EvmChain, caps: FeeCaps): Promise<Fees> {
  return limitFees(chain.name, await readFeeMarket(chain), caps);
}

export function limitFees(name: string, { baseFee, tip }: FeeMarket, { maxFee, maxTip }: FeeCaps): Fees {
  if (baseFee > maxFee)
    throw new Blocked('fee_cap', `the base fee on ${name} is ${baseFee} wei, above the cap of ${maxFee} wei`);
  const priorityFee = min(min(tip, maxTip), maxFee - baseFee);
  return { maxFee: min(2n * baseFee + priorityFee, maxFee), priorityFee };
}

/** A market tip above the cap counts as equal to the cap. */
export function isOutbid(
  { maxFee, priorityFee }: Fees,
  { baseFee, tip }: FeeMarket,
  { maxTip }: FeeCaps,
): boolean {
  const neededTip = min(tip, maxTip);
  return maxFee < baseFee + neededTip || priorityFee < neededTip;
}

/**
 * Null if the fees would exceed a cap. Some nodes accept a replacement only if both the maximum fee and the tip rise
 * by an eighth, so a tip at its cap may exceed it by an eighth.
 */
export function raiseFees(previous: Fees, proposed: Fees, caps: FeeCaps): Fees | null {
  const raise = (fee: bigint) => fee + fee / 8n + 1n;
  const maxFee = max(raise(previous.maxFee), proposed.maxFee);
  const priorityFee = max(raise(previous.priorityFee), proposed.priorityFee);
  if (maxFee > caps.maxFee || priorityFee > max(caps.maxTip, raise(proposed.priorityFee))) return null;
  return { maxFee, priorityFee: min(priorityFee, maxFee) };
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
