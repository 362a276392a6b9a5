import type { Db } from '../db/pool.ts';
import * as store from './endpoint-store.ts';

/** Returns the enabled endpoints of all partners, at most `limit`. */
export function listActiveEndpoints(db: Db, limit: number): Promise<{ id: string; url: string }[]> {
  return store.listEnabled(db, limit);
}
