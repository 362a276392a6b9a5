import { createHmac } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { listOwnerKeys, putOwner, putOwnerKey } from './proof-store.ts';

const PURPOSE = 'wallet owner';
const KEY_PURPOSE = 'wallet owner key';

type Parts = Pick<Context, 'sealing'>;

/** Stores a keyed hash of the wallet. The hash is kept after the wallet's bindings and the account are deleted. */
export async function rememberOwner(
  { sealing }: Parts,
  tx: Db,
  userId: string,
  address: string,
): Promise<void> {
  await putOwner(tx, sealing.tag(PURPOSE, address), userId);
}

/** Returns every hash of the wallet that `rememberOwner` may have stored: one for each current or former secret. */
export async function ownerHashes({ sealing }: Parts, tx: Db, address: string): Promise<Buffer[]> {
  const former = (await listOwnerKeys(tx)).map(({ fingerprint, sealed }) =>
    sealing.open(KEY_PURPOSE, sealed, fingerprint.toString('hex')),
  );
  return [
    ...sealing.tags(PURPOSE, address),
    ...former.map((key) => createHmac('sha256', key).update(address).digest()),
  ];
}

/**
 * Stores the hash keys of all older secrets, sealed with the newest secret, so that the older secrets can be
 * removed. Returns how many keys it sealed.
 */
export async function keepOwnerKeys({ db, sealing }: Parts & Pick<Context, 'db'>): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const older = sealing
      .tagKeys(PURPOSE)
      .map((key, index) => ({ key, fingerprint: sealing.fingerprints[index] }));
    const kept = (await listOwnerKeys(tx)).map(({ fingerprint, sealed }) => ({
      key: sealing.open(KEY_PURPOSE, sealed, fingerprint.toString('hex')),
      fingerprint,
    }));
    const keys = [...older.slice(1), ...kept];
    for (const { key, fingerprint = Buffer.alloc(0) } of keys)
      await putOwnerKey(tx, fingerprint, sealing.seal(KEY_PURPOSE, key, fingerprint.toString('hex')));
    return keys.length;
  });
}
