type Hex = `0x${string}`;

/** Wallets and libraries wrap each other's errors in ways of their own; these are all that one holds. */
function* within(error: unknown, depth = 0): Generator<Record<string, unknown>> {
  if (typeof error !== 'object' || error === null || depth > 6) return;
  const one = error as Record<string, unknown>;
  yield one;
  for (const member of ['cause', 'data', 'originalError', 'error', 'info'])
    yield* within(one[member], depth + 1);
}

export function hasCode(error: unknown, ...codes: (number | string)[]): boolean {
  for (const { code } of within(error)) if (codes.includes(code as number)) return true;
  return false;
}

/** What a call reverted with; undefined when the error holds no such bytes. */
export function readRevertData(error: unknown): Hex | undefined {
  for (const { data } of within(error))
    if (typeof data === 'string' && /^0x([0-9a-f]{2})*$/i.test(data)) return data as Hex;
  return undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Object && 'message' in error ? String(error.message) : String(error);
}

/** Whether the wallet is gone or too busy, which says nothing about what it was asked. */
export function isOutage(error: unknown): boolean {
  if (readRevertData(error) !== undefined) return false;
  return (
    hasCode(error, 4900, 4901, -32005, 429) ||
    /timed? ?out|fetch|network|disconnected/i.test(messageOf(error))
  );
}
