import type { Context } from '../context.ts';
import { EMPTY_CHAIN } from './chain.ts';
import { type Checkpoint, createCheckpointKeys, openCheckpoint, signCheckpoint } from './checkpoint.ts';
import { findStart, putStart } from './store.ts';

/** Differs from the origins of checkpoints, so that nobody can present a checkpoint as the start of the log. */
const ORIGIN = 'causeway/audit-start';

type Parts = Pick<Context, 'db' | 'sealing'>;

/**
 * Returns the number of deleted entries and the chain hash after them. Returns null if no configured secret signed the
 * stored start of the log. Keys of removed secrets do not count: someone who has such a key could otherwise move the
 * start and so hide that entries are missing.
 */
export async function readStart({ db, sealing }: Parts): Promise<Checkpoint | null> {
  const start = await findStart(db);
  if (start === undefined) return { size: 0n, hash: EMPTY_CHAIN };
  const opened = openCheckpoint(createCheckpointKeys(sealing, [], ORIGIN), start.note);
  return opened?.size === start.size ? opened : null;
}

/** Makes the log start after these entries, which may be deleted from then on. */
export async function moveStart({ db, sealing }: Parts, start: Checkpoint): Promise<void> {
  const note = signCheckpoint(createCheckpointKeys(sealing, [], ORIGIN), start);
  await putStart(db, { size: start.size, note });
}

/** Signs the start with the newest secret too, so that the older secrets can be removed. */
export async function renewStart(parts: Parts): Promise<void> {
  const start = await readStart(parts);
  if (start !== null && start.size > 0n) await moveStart(parts, start);
}
