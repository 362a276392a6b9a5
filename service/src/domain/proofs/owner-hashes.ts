import { type FormerTagKey, formerTags, sealTagKeys } from '../../kernel/former-tag-keys.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { listOwnerKeys, putOwner, putOwnerKey } from './proof-store.ts';

const PURPOSE = 'wallet owner';

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
export function ownerHashes({ sealing }: Parts, keys: readonly FormerTagKey[], address: string): Buffer[] {
  const former = formerTags(sealing, PURPOSE, keys, address);
  return [...sealing.tags(PURPOSE, address), ...former];
}

/** Lets operators remove the older secrets. */
export async function keepOwnerKeys({ db, sealing }: Parts & Pick<Context, 'db'>): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const keys = sealTagKeys(sealing, PURPOSE, await listOwnerKeys(tx));
    for (const { fingerprint, sealed } of keys) await putOwnerKey(tx, fingerprint, sealed);
    return keys.length;
  });
}
