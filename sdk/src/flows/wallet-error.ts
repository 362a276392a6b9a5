import type { Hex } from 'viem';

const MAX_DEPTH = 6;

/** Yields the error and every error nested in it. Wallets and libraries nest errors in different fields. */
function* nestedErrors(error: unknown, depth = 0): Generator<Record<string, unknown>> {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return;
  const fields = error as Record<string, unknown>;
  yield fields;
  for (const name of ['cause', 'data', 'originalError', 'error', 'info'])
    yield* nestedErrors(fields[name], depth + 1);
}

export function hasCode(error: unknown, ...codes: (number | string)[]): boolean {
  for (const { code } of nestedErrors(error)) if (codes.includes(code as number)) return true;
  return false;
}

/** Returns the revert data of a failed call, or undefined if the error contains none. */
export function readRevertData(error: unknown): Hex | undefined {
  for (const { data } of nestedErrors(error))
    if (typeof data === 'string' && /^0x([0-9a-f]{2})*$/i.test(data)) return data as Hex;
  return undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Object && 'message' in error ? String(error.message) : String(error);
}

/** Returns true if the message of the error or of a nested error matches. */
function hasMessage(error: unknown, pattern: RegExp): boolean {
  return [error, ...nestedErrors(error)].some((one) => pattern.test(messageOf(one)));
}

/** Codes for a disconnected EIP-1193 provider (4900, 4901) and for rate limits in JSON-RPC (-32005) and HTTP (429). */
const OUTAGE_CODES = [4900, 4901, -32005, 429];
const OUTAGE = /timed? ?out|fetch|network|disconnected/i;

/** Returns true if the wallet or its node was unavailable. Such an error says nothing about the call itself. */
export function isOutage(error: unknown): boolean {
  if (readRevertData(error) !== undefined) return false;
  return hasCode(error, ...OUTAGE_CODES) || hasMessage(error, OUTAGE);
}

/** EIP-1193: the user rejected the request. */
const USER_REJECTED = 4001;

export function isRejected(error: unknown): boolean {
  return hasCode(error, USER_REJECTED, 'ACTION_REJECTED');
}

/**
 * Matches errors that leave open whether the transaction was sent: the wallet got no response, or its node already has
 * the transaction.
 */
const UNCLEAR = /already known|expired|closed|connection|socket|gateway|status code/i;

/** Returns true if the wallet may have sent the transaction despite the error. */
export function isUnclear(error: unknown): boolean {
  return !isRejected(error) && (isOutage(error) || hasMessage(error, UNCLEAR));
}
