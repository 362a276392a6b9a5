import type { Db } from '../db/pool.ts';
import { insertCommandEntry, insertFailedSignIn } from './store.ts';

/** Records that a command runs. Triggers of the database record everything that changes a row; see the migrations. */
export async function recordCommand(db: Db, name: string): Promise<void> {
  await insertCommandEntry(db, name);
}

/** Records a sign-in with a wrong password or passkey. The user is null if the account is unknown. */
export async function recordFailedSignIn(db: Db, userId: string | null): Promise<void> {
  await insertFailedSignIn(db, userId);
}
