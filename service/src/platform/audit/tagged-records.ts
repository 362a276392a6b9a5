import type { Context } from '../context/context.ts';
import { type Checkpoint, type CheckpointKeys, createCheckpointKeys, type FormerKey } from './checkpoint.ts';
import { findStart, listFormerKeys, lockSealing, putFormerKey, putStart } from './store.ts';
import { readNewestCheckpoint } from './tiles.ts';
import { AuditProblem } from './tree.ts';

const PURPOSE = 'audit former key';
const START_PURPOSE = 'audit start';

type Parts = Pick<Context, 'db' | 'sealing'>;

/** The key of a replaced secret verifies only checkpoints of entries that were written before it was replaced. */
export async function loadCheckpointKeys({ db, sealing }: Parts): Promise<CheckpointKeys> {
  // Only a configured secret can create a valid tag. So a key is not trusted if someone inserted it or changed its
  // `end`.
  const trusted = (await listFormerKeys(db)).filter(({ tag, ...key }) =>
    sealing.verifyTag(PURPOSE, tagged(key), tag),
  );
  return createCheckpointKeys(sealing, trusted);
}

/**
 * Stores the public keys of all older secrets, so that those can be removed. A stored key verifies checkpoints only
 * up to its `end`, which each call moves to the newest checkpoint as long as the secret is configured; later ones are
 * also signed with the newest secret. Throws if this installation did not sign the newest checkpoint, because the
 * `end` would then vouch for it.
 */
export async function keepCheckpointKeys({ db, sealing }: Parts): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockSealing(tx);
    const { newest, older, former } = await loadCheckpointKeys({ db: tx, sealing });
    const end = await readNewestCheckpoint(tx, { newest, older, former });
    if (end === undefined) return;
    const listed = [newest, ...older];
    const ended = former.filter(({ publicKey }) => !listed.some((key) => key.publicKey.equals(publicKey)));
    for (const key of [...older.map(({ publicKey }) => ({ publicKey, end })), ...ended])
      await putFormerKey(tx, key, sealing.tag(PURPOSE, tagged(key)));
    const start = await readStart({ db: tx, sealing });
    if (start.size > 0) await moveStart({ db: tx, sealing }, start);
  });
}

function tagged({ publicKey, end: { size, hash } }: FormerKey): string {
  return `${publicKey.toString('hex')} ${size} ${hash.toString('hex')}`;
}

/**
 * The state of the log after the entries that were deleted as expired. Without a valid tag of a configured secret,
 * anyone who can change the database could delete entries and call them expired.
 */
export async function readStart({ db, sealing }: Parts): Promise<Checkpoint> {
  const start = await findStart(db);
  if (start === undefined) return { size: 0, hash: Buffer.alloc(0) };
  if (!sealing.verifyTag(START_PURPOSE, taggedStart(start), start.tag))
    throw new AuditProblem('the record of where the log starts is not signed by this installation');
  return start;
}

export async function moveStart({ db, sealing }: Parts, start: Checkpoint): Promise<void> {
  await putStart(db, start, sealing.tag(START_PURPOSE, taggedStart(start)));
}

function taggedStart({ size, hash }: Checkpoint): string {
  return `${size} ${hash.toString('hex')}`;
}
