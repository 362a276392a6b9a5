/**
 * The selectors of functions that spend tokens or let others spend them. A test compares the selectors with the
 * function signatures.
 */
const TOKEN_CALLS = new Set(
  (
    '095ea7b3 a9059cbb 23b872dd 39509351 a22cb465 d505accf 8fcbaf0c d73dd623 cae9ca51 3177029f ' +
    '4000aea0 1296ee62 42842e0e b88d4fde f242432a 9bd9bbc6 959b8c3f 87517c45 42966c68 e3ee160e'
  ).split(' '),
);

/** Returns true if `data` is well-formed calldata with a selector that is not in `TOKEN_CALLS`. */
export function movesNoTokens(data: string): boolean {
  return /^0x([0-9a-f]{2}){4,}$/i.test(data) && !TOKEN_CALLS.has(data.slice(2, 10).toLowerCase());
}
