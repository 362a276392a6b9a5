import type { Hex } from 'viem';
import { decodeErrorResult } from 'viem/utils';
import { messageOf, readRevertData } from './wallet-error.ts';

/**
 * Returns the reason for a revert: the text of a `require`, the name of a known error with its arguments (such as
 * `IsPaused(4)`), or the selector of an unknown error. Without revert data, returns the message of `error`.
 */
export async function describeRevert(error: unknown): Promise<string> {
  const data = readRevertData(error);
  return data === undefined || data === '0x' ? messageOf(error) : decodeRevert(data);
}

async function decodeRevert(data: Hex): Promise<string> {
  try {
    const { errorsAbi } = await import('./errors-abi.ts');
    // viem also decodes Solidity's built-in errors, `Error` and `Panic`.
    const decoded: { errorName: string; args?: readonly unknown[] | undefined } = decodeErrorResult({
      ...{ abi: errorsAbi, data },
    });
    const { errorName, args = [] } = decoded;
    if (errorName === 'Error') return String(args[0]);
    return args.length === 0 ? errorName : `${errorName}(${args.join(', ')})`;
  } catch {
    return data.slice(0, 10);
  }
}
