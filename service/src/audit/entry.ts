import type { Db } from '../db/pool.ts';
import type { Kernel } from '../kernel.ts';
import { type Decision, insertCommandEntry, insertDecisionEntry, insertFailedSignIn } from './store.ts';

export type { Decision } from './store.ts';

/** Records that a command runs. Changes of rows need no call: database triggers record them; see the migrations. */
export async function recordCommand(db: Db, name: string): Promise<void> {
  await insertCommandEntry(db, name);
}

/** Records a sign-in with a wrong password or passkey. The user is null if the account is unknown. */
export async function recordFailedSignIn(db: Db, userId: string | null): Promise<void> {
  // A transaction is tagged with the request that it belongs to; a single statement is not.
  await db.transaction().execute((tx) => insertFailedSignIn(tx, userId));
}

/**
 * Records a decision that the database triggers miss: one that changes no row, or whose writer does not know the
 * request.
 */
export async function recordDecision(db: Db, decision: Decision): Promise<void> {
  await insertDecisionEntry(db, decision);
}

/** Like `recordDecision`, but runs in the background, so that the request does not wait for it. */
export function recordRefusal({ db, log }: Pick<Kernel, 'db' | 'log'>, decision: Decision): void {
  recordDecision(db, decision).catch((err: unknown) =>
    log.warn({ err, request_id: decision.requestId }, 'could not record a refusal in the audit log'),
  );
}
