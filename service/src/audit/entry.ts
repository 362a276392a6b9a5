import type { Db } from '../db/pool.ts';
import { insertCommandEntry } from './store.ts';

/** Records that a command runs. Everything else is recorded by triggers of the database; see the migration. */
export async function recordCommand(db: Db, name: string): Promise<void> {
  await insertCommandEntry(db, name);
}
