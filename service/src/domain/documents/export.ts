import type { Db } from '../../platform/db/pool.ts';
import { listSubmissionsOf } from './store.ts';

/** Returns the type, times and status of each of the user's tax forms. The signing provider stores their contents. */
export function exportUser(db: Db, userId: string) {
  return listSubmissionsOf(db, userId);
}
