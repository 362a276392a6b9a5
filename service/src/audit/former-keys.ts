import type { Context } from '../context.ts';
import { type CheckpointKeys, createCheckpointKeys, rawKey } from './checkpoint.ts';
import { listFormerKeys, putFormerKey } from './store.ts';

const PURPOSE = 'audit former key';

type Parts = Pick<Context, 'db' | 'sealing'>;

/** Returns the keys of all configured secrets, and the public keys of removed secrets, which verify old checkpoints. */
export async function loadCheckpointKeys({ db, sealing }: Parts): Promise<CheckpointKeys> {
  const rows = await listFormerKeys(db);
  // The tag can only be made with the secret, so a key that someone inserted into the database is not trusted.
  const trusted = rows.filter(({ public_key, tag }) =>
    sealing.verifyTag(PURPOSE, public_key.toString('hex'), tag),
  );
  return createCheckpointKeys(
    sealing,
    trusted.map(({ public_key }) => public_key),
  );
}

/**
 * Stores the public keys of all older secrets, tagged with the newest secret, so that the older secrets can be removed.
 */
export async function keepCheckpointKeys({ db, sealing }: Parts): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { newest, all } = await loadCheckpointKeys({ db: tx, sealing });
    for (const { publicKey, hint } of all) {
      if (hint.equals(newest.hint)) continue;
      const raw = rawKey(publicKey);
      await putFormerKey(tx, raw, sealing.tag(PURPOSE, raw.toString('hex')));
    }
  });
}
