import type { Db } from '../../platform/db/pool.ts';
import { eraseNotices } from '../notices/notice.ts';
import { anonymizeUser } from '../users/user-store.ts';
import { deleteLinksOf } from './mail-link-store.ts';
import { deletePasskeysOf } from './passkey-store.ts';
import { deleteSecondFactorOf } from './second-factor-store.ts';
import { deleteSessionsOf } from './session-store.ts';

/**
 * Ends the account: deletes the user's passkeys, second factor, sessions, links and notices, and anonymizes the user's
 * row.
 */
export async function eraseUser(tx: Db, userId: string): Promise<void> {
  await deletePasskeysOf(tx, userId);
  await deleteSecondFactorOf(tx, userId);
  await deleteSessionsOf(tx, userId);
  await deleteLinksOf(tx, userId);
  await eraseNotices(tx, userId);
  await anonymizeUser(tx, userId);
}
