import type { Hex } from 'viem';
import { decodeErrorResult, isHex } from 'viem/utils';
import { NodeError } from '../rpc/failures.ts';
import { KNOWN_ERRORS } from './known-errors.ts';

/** Returns the revert data if the node's error means that the call reverted, or undefined for any other error. */
export function revertData(error: unknown): Hex | undefined {
  if (!(error instanceof NodeError)) return undefined;
  const data =
    typeof error.data === 'object' && error.data !== null
      ? (error.data as { data?: unknown }).data
      : error.data;
  if (isHex(data)) return data;
  // Without data, only the message shows whether the call reverted. Some nodes omit empty revert data, or report
  // running out of gas with a different error code than other reverts.
  return /revert|invalid opcode|out of gas|stack|invalid jump/i.test(error.message) ? '0x' : undefined;
}

// The maximum length of the data that is decoded, in hex digits. Callers choose the contracts, and a contract can revert
// with a megabyte.
const MAX_DECODED_LENGTH = 4_096;

/** Describes a revert: the `require` message, the name and arguments of a known error, or the raw data. */
export function describeRevert(data: Hex): string {
  if (data === '0x') return 'reverted without a reason';
  try {
    const start = data.slice(0, MAX_DECODED_LENGTH) as Hex;
    const { errorName, args = [] } = decodeErrorResult({ abi: KNOWN_ERRORS, data: start });
    if (errorName === 'Error') return String(args[0]);
    return `${errorName}(${args.map(String).join(', ')})`;
  } catch {
    return `unknown error ${data.slice(0, 138)}`;
  }
}

/**
 * Describes a revert in a form that may be stored as a reason: omits arguments and raw data, which may contain a wallet
 * address.
 */
export function nameRevert(data: Hex): string {
  return describeRevert(data)
    .replace(/[(:].*| 0x.*/s, '')
    .trim();
}
