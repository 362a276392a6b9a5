import type { Context } from '../context/context.ts';
import { AuditProblem } from './audit-problem.ts';
import type { Checkpoint } from './checkpoint.ts';
import { findStart, putStart } from './store.ts';

const PURPOSE = 'audit start';

type Parts = Pick<Context, 'db' | 'sealing'>;

/**
 * Returns the state of the log after the entries that were deleted because they had expired. Without a valid tag of a
 * configured secret, anyone who can change the database could delete entries and call them expired. Tags of removed
 * secrets do not count.
 */
export async function readStart({ db, sealing }: Parts): Promise<Checkpoint> {
  const start = await findStart(db);
  if (start === undefined) return { size: 0, hash: Buffer.alloc(0) };
  if (!sealing.verifyTag(PURPOSE, tagged(start), start.tag))
    throw new AuditProblem('the record of where the log starts is not signed by this installation');
  return start;
}

/** Stores a new start of the log. The entries before it may then be deleted. */
export async function moveStart({ db, sealing }: Parts, start: Checkpoint): Promise<void> {
  await putStart(db, start, sealing.tag(PURPOSE, tagged(start)));
}

function tagged({ size, hash }: Checkpoint): string {
  return `${size} ${hash.toString('hex')}`;
}
