import type { Db } from '../../platform/db/pool.ts';
import * as store from './endpoint-store.ts';

/** Returns up to `limit` enabled endpoints, from all partners. */
export function listActiveEndpoints(db: Db, limit: number): Promise<{ id: string; url: string }[]> {
  return store.listEnabled(db, limit);
}
