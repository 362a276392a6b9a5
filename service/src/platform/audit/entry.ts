import type { Kernel } from '../context/kernel.ts';
import type { Decision } from '../context/ports.ts';
import type { Db } from '../db/pool.ts';
import {
  insertCommandEntry,
  insertDecisionEntry,
  insertFailedSignIn,
  setTransactionReason,
} from './store.ts';

/**
 * Records that a command ran. Row changes do not need this call, because database triggers record them (see the
 * migrations).
 */
export async function recordCommand(db: Db, name: string): Promise<void> {
  await insertCommandEntry(db, name);
}

/**
 * Sets the operator's reason for what the transaction is about to do. Triggers store it with the entries that record an
 * erasure, a closed offer or a disabled partner.
 */
export async function setReason(tx: Db, reason: string): Promise<void> {
  await setTransactionReason(tx, reason);
}

/** Records a failed sign-in: a wrong password, passkey or code. The user is null if the account is unknown. */
export async function recordFailedSignIn(db: Db, userId: string | null): Promise<void> {
  // Uses a transaction, because only transactions are tagged with the request that they belong to.
  await db.transaction().execute((tx) => insertFailedSignIn(tx, userId));
}

/**
 * Records a decision that database triggers cannot record, either because it changes no row, or because the code that
 * writes the row does not know the request.
 */
export async function recordDecision(db: Db, decision: Decision): Promise<void> {
  await insertDecisionEntry(db, decision);
}

/** A refusal that repeats within this time is not recorded again. */
const REPEATED_REFUSAL_MS = 60_000;
/**
 * How many refusals to remember, to limit memory use. The oldest refusal is forgotten first. If a forgotten refusal
 * repeats, it is recorded again.
 */
const MAX_REMEMBERED_REFUSALS = 10_000;

/**
 * Returns a function that records a refusal in the background, so that the request does not wait for the database. If
 * refusals have the same actor, action, subject and reason, each node records at most one of them per minute. Otherwise
 * a client that repeats a refused request could fill the log, which is kept for years.
 */
export function createRefusalRecorder({ db, log }: Pick<Kernel, 'db' | 'log'>): (decision: Decision) => void {
  const recordedAt = new Map<string, number>();
  return (decision) => {
    const { actor, action, subject, reason, requestId } = decision;
    const key = JSON.stringify([actor, action, subject, reason]);
    const now = performance.now();
    if (now - (recordedAt.get(key) ?? -Infinity) < REPEATED_REFUSAL_MS) return;
    recordedAt.delete(key);
    recordedAt.set(key, now);
    const [oldest] = recordedAt.keys();
    if (recordedAt.size > MAX_REMEMBERED_REFUSALS && oldest !== undefined) recordedAt.delete(oldest);
    recordDecision(db, decision).catch((err: unknown) => {
      recordedAt.delete(key);
      log.warn({ err, request_id: requestId }, 'could not record a refusal in the audit log');
    });
  };
}
