import type { Db } from '../../platform/db/pool.ts';
import { listAcknowledgementsOf } from './store.ts';

/**
 * Returns the documents that the user has acknowledged: which version, when, through which partner and from which
 * network.
 */
export function exportUser(db: Db, userId: string) {
  return listAcknowledgementsOf(db, userId);
}
