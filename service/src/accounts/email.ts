/**
 * Returns the form in which addresses are compared. Only ASCII letters ignore case, exactly as in the index of the table
 * of users: a full case mapping differs between JavaScript and the locales of PostgreSQL.
 */
export function normalizeEmail(email: string): string {
  return email
    .trim()
    .normalize('NFC')
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
