import type { Hex } from 'viem';
import { decodeErrorResult } from 'viem/utils';
import { errorsAbi } from './abi.ts';
import { messageOf, readRevertData } from './wallet-error.ts';

/**
 * Returns the reason for a revert: `InsufficientAmount`, `IsPaused(4)`, the contract's own message, or the
 * error selector.
 */
export function describeRevert(error: unknown): string {
  const data = readRevertData(error);
  return data === undefined || data === '0x' ? messageOf(error) : decodeRevert(data);
}

function decodeRevert(data: Hex): string {
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: errorsAbi, data });
    if (errorName === 'Error') return String(args[0]);
    return args.length === 0 ? errorName : `${errorName}(${args.join(', ')})`;
  } catch {
    return data.slice(0, 10);
  }
}
