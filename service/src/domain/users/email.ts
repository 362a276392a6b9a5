/**
 * Returns the form of an address that is used for comparisons. Lower-cases only ASCII letters, exactly like the index
 * on the users table. Other letters are converted differently by JavaScript and by PostgreSQL's locales.
 */
export function normalizeEmail(email: string): string {
  return email
    .trim()
    .normalize('NFC')
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Returns the address that replaces the user's address when the account is erased. */
export function erasedAddressOf(userId: string): string {
  return `erased-${userId}@erased.invalid`;
}
