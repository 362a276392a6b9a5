import type { Hex } from 'viem';
import { decodeErrorResult, isHex } from 'viem/utils';
import { errorAbi } from './abi.ts';
import { NodeError } from './failures.ts';

/** The return data of a reverted call, if that is what the node's error means. */
export function revertData(error: unknown): Hex | undefined {
  if (!(error instanceof NodeError)) return undefined;
  const data =
    typeof error.data === 'object' && error.data !== null
      ? (error.data as { data?: unknown }).data
      : error.data;
  if (isHex(data)) return data;
  // Some nodes leave the data out when there is none, and run out of gas under a code of their own.
  return /revert|invalid opcode|out of gas|stack|invalid jump/i.test(error.message) ? '0x' : undefined;
}

/** A revert in words: the text of `require`, the name of a known error with its arguments, or the bare data. */
export function describeRevert(data: Hex): string {
  if (data === '0x') return 'reverted without a reason';
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: errorAbi, data });
    if (errorName === 'Error') return String(args[0]);
    return `${errorName}(${args.map(String).join(', ')})`;
  } catch {
    return `unknown error ${data.slice(0, 138)}`;
  }
}

/** The name alone, for what is kept and told: arguments may name a wallet. */
export function nameRevert(data: Hex): string {
  return describeRevert(data)
    .replace(/[(:].*| 0x.*/s, '')
    .trim();
}
