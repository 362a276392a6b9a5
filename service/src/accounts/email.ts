/**
 * Returns the form in which addresses are compared. Only ASCII letters are lower-cased, exactly as in the index on the
 * users table: a full case mapping differs between JavaScript and the locales of PostgreSQL.
 */
export function normalizeEmail(email: string): string {
  return email
    .trim()
    .normalize('NFC')
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Returns the address that replaces the user's own when the account is erased. */
export function erasedAddressOf(userId: string): string {
  return `erased-${userId}@erased.invalid`;
}
