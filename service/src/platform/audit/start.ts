import type { Context } from '../context/context.ts';
import { EMPTY_CHAIN } from './chain.ts';
import { type Checkpoint, createCheckpointKeys, openCheckpoint, signCheckpoint } from './checkpoint.ts';
import { findStart, putStart } from './store.ts';

/**
 * The origin in the signed start of the log. Checkpoints have other origins, so nobody can pass off a checkpoint as the
 * start.
 */
const ORIGIN = 'causeway/audit-start';

type Parts = Pick<Context, 'db' | 'sealing'>;

/**
 * Returns the start of the log: the number of deleted entries, and the chain hash of the last one. Returns null if the
 * stored start is not signed with a configured secret. Signatures by removed secrets do not count: anyone who has a
 * removed secret could sign a later start to hide missing entries.
 */
export async function readStart({ db, sealing }: Parts): Promise<Checkpoint | null> {
  const start = await findStart(db);
  if (start === undefined) return { size: 0n, hash: EMPTY_CHAIN };
  const opened = openCheckpoint(createCheckpointKeys(sealing, [], ORIGIN), start.note);
  return opened?.size === start.size ? opened : null;
}

/** Stores a new, signed start of the log. The entries before the new start may then be deleted. */
export async function moveStart({ db, sealing }: Parts, start: Checkpoint): Promise<void> {
  const note = signCheckpoint(createCheckpointKeys(sealing, [], ORIGIN), start);
  await putStart(db, { size: start.size, note });
}

/** Signs the start again with the current secrets, so that older secrets can be removed. */
export async function renewStart(parts: Parts): Promise<void> {
  const start = await readStart(parts);
  if (start !== null && start.size > 0n) await moveStart(parts, start);
}
