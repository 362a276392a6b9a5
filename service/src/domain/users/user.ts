import type { Sealing } from '../../kernel/sealing.ts';
import { LOCALES, type Locale, parseLocale } from '../../platform/mail/catalogue.ts';

export function localeOf({ locale }: { locale: string | null }): Locale {
  return parseLocale(locale) ?? LOCALES[0];
}

/** Lower-cases only ASCII letters, exactly like the index on the users table, whatever PostgreSQL's locale. */
export function normalizeEmail(email: string): string {
  return email
    .trim()
    .normalize('NFC')
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

export function erasedAddressOf(userId: string): string {
  return `erased-${userId}@erased.invalid`;
}

/** Crockford's base 32, which has no letters that look like digits. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CODE_LENGTH = 8;

/**
 * Returns a short code for the account. The wallet's signing prompt shows the code, so that the user can recognize the
 * account. The code is a keyed hash of the user id, so it reveals nothing about the person. The code changes when a new
 * `CAUSEWAY_SECRET` is added.
 */
export function accountCode({ sealing }: { sealing: Pick<Sealing, 'tag'> }, userId: string): string {
  let bits = sealing.tag('account code', userId).readBigUInt64BE();
  let code = '';
  for (let i = 0; i < CODE_LENGTH; i++) {
    code += ALPHABET[Number(bits & 31n)];
    bits >>= 5n;
  }
  return code;
}
