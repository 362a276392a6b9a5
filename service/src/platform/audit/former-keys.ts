import type { Context } from '../context/context.ts';
import { type CheckpointKeys, createCheckpointKeys, type FormerKey } from './checkpoint.ts';
import { moveStart, readStart } from './start.ts';
import { listFormerKeys, lockSealing, putFormerKey } from './store.ts';
import { readNewestCheckpoint } from './tiles.ts';

const PURPOSE = 'audit former key';

type Parts = Pick<Context, 'db' | 'sealing'>;

/**
 * Returns the keys of all configured secrets, and the public keys of replaced secrets. The key of a replaced secret
 * verifies only checkpoints of entries that were written before the secret was replaced.
 */
export async function loadCheckpointKeys({ db, sealing }: Parts): Promise<CheckpointKeys> {
  // The tag is a keyed hash of the other fields. Only a configured secret can create a valid tag. So a key is not
  // trusted if someone inserted it into the database or changed its `end`.
  const trusted = (await listFormerKeys(db)).filter(({ tag, ...key }) =>
    sealing.verifyTag(PURPOSE, tagged(key), tag),
  );
  return createCheckpointKeys(sealing, trusted);
}

/**
 * Stores the public keys of all older secrets, so that the older secrets can be removed. Each stored key has a tag made
 * with the newest secret. A stored key verifies checkpoints only up to its `end`. As long as its secret is configured,
 * each call moves the `end` to the newest checkpoint. Later checkpoints do not need the key, because every node also
 * signs them with the newest secret. Throws if this installation did not sign the newest checkpoint, because the `end`
 * would then vouch for it.
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
