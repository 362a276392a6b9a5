import type { Context } from '../context/context.ts';
import { EMPTY_CHAIN } from './chain.ts';
import { type Checkpoint, type CheckpointKeys, createCheckpointKeys, rawKey } from './checkpoint.ts';
import { renewStart } from './start.ts';
import { findLastSealed, listFormerKeys, lockSealing, putFormerKey } from './store.ts';

const PURPOSE = 'audit former key';

type Parts = Pick<Context, 'db' | 'sealing'>;

/**
 * Returns the keys of all configured secrets, and the public keys of replaced secrets. The key of a replaced secret
 * verifies only checkpoints of entries that were written before the secret was replaced.
 */
export async function loadCheckpointKeys({ db, sealing }: Parts): Promise<CheckpointKeys> {
  const former = (await listFormerKeys(db)).map(({ public_key, size, chain_hash, tag }) => ({
    ...{ publicKey: public_key, end: { size, hash: chain_hash }, tag },
  }));
  // The tag is a keyed hash of the other fields. Only a configured secret can create a valid tag. So a key is not
  // trusted if someone inserted it into the database or changed its `end`.
  const trusted = former.filter(({ publicKey, end, tag }) =>
    sealing.verifyTag(PURPOSE, tagged(publicKey, end), tag),
  );
  return createCheckpointKeys(sealing, trusted);
}

/**
 * Stores the public keys of all older secrets, so that the older secrets can be removed. Each stored key has a tag made
 * with the newest secret. A stored key verifies checkpoints only up to its `end`. As long as its secret is configured,
 * each call moves the `end` to the newest entry. Later checkpoints do not need the key, because every node also signs
 * them with the newest secret.
 */
export async function keepCheckpointKeys({ db, sealing }: Parts): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockSealing(tx);
    const last = await findLastSealed(tx);
    const now = { size: last?.position ?? 0n, hash: last?.chain_hash ?? EMPTY_CHAIN };
    const { newest, listed, all } = await loadCheckpointKeys({ db: tx, sealing });
    for (const { publicKey, hint, end } of all) {
      const isListed = listed.some((key) => key.hint.equals(hint));
      if (hint.equals(newest.hint) || (isListed && end !== null)) continue;
      const [raw, until] = [rawKey(publicKey), end ?? now];
      await putFormerKey(tx, raw, until, sealing.tag(PURPOSE, tagged(raw, until)));
    }
    await renewStart({ db: tx, sealing });
  });
}

function tagged(publicKey: Buffer, { size, hash }: Checkpoint): string {
  return `${publicKey.toString('hex')} ${size} ${hash.toString('hex')}`;
}
