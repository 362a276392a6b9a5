import type { Db } from '../db/pool.ts';
import { listSubmissionsOf } from './store.ts';

/** Returns the user's tax forms: which, when and with what outcome. The signing provider stores their contents. */
export function exportUser(db: Db, userId: string) {
  return listSubmissionsOf(db, userId);
}
