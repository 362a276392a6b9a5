import type { Db } from '../../platform/db/pool.ts';
import { LOCALES, type Locale, parseLocale } from '../../platform/mail/locale.ts';
import * as store from './user-store.ts';

export type { User } from './user-store.ts';

export function findUser(db: Db, id: string): Promise<store.User | undefined> {
  return store.findUser(db, id);
}

/** Finds a user by email address, ignoring case. */
export function findUserByEmail(db: Db, email: string) {
  return store.findUserByEmail(db, email);
}

/** Finds a user by id or email address and locks the row until the transaction ends. */
export function lockUser(tx: Db, idOrEmail: string): Promise<{ id: string; email: string } | undefined> {
  return store.lockUser(tx, idOrEmail);
}

/** Returns the language for emails to the user. */
export function localeOf({ locale }: Pick<store.User, 'locale'>): Locale {
  return parseLocale(locale) ?? LOCALES[0];
}

export function setUserLocale(tx: Db, userId: string, locale: Locale): Promise<void> {
  return store.setLocale(tx, userId, locale);
}
