import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { JWK } from 'oidc-provider';
import type { Kernel } from '../../platform/context/kernel.ts';
import * as store from './key-store.ts';

type Dependencies = Pick<Kernel, 'db' | 'sealing' | 'random'>;

/** Returns the published keys, the signing key first. Creates the first key if there is none. */
export async function loadSigningKeys(ctx: Dependencies): Promise<JWK[]> {
  const keys = await readKeys(ctx);
  if (keys.length > 0) return keys;
  const key = await generateKey(ctx);
  // Several nodes may start at once on an empty database. The lock lets only one of them create the key.
  await ctx.db.transaction().execute(async (tx) => {
    await store.lockKeys(tx);
    if (!(await store.hasCurrentKey(tx))) await store.insertKey(tx, key);
  });
  return readKeys(ctx);
}

/** Creates a new signing key, retires the others, and returns the new key's id. Running nodes are notified. */
export async function rotateSigningKey(ctx: Dependencies): Promise<string> {
  const key = await generateKey(ctx);
  await ctx.db.transaction().execute(async (tx) => {
    await store.lockKeys(tx);
    await store.retireKeys(tx);
    await store.insertKey(tx, key);
  });
  return key.kid;
}

/** Reseals the keys with the newest secret and returns how many it resealed. The keys themselves stay the same. */
export async function resealSigningKeys({
  db,
  sealing,
}: Pick<Dependencies, 'db' | 'sealing'>): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await store.lockKeys(tx);
    const keys = await store.listAllKeys(tx);
    const outdated = keys.filter(({ sealed }) => !sealed.subarray(0, 4).equals(sealing.newestKeyId));
    for (const { kid, sealed } of outdated)
      await store.updateSealedKey(tx, {
        kid,
        sealed: sealing.seal('jwks', sealing.open('jwks', sealed, kid), kid),
      });
    return outdated.length;
  });
}

async function readKeys({ db, sealing }: Dependencies): Promise<JWK[]> {
  const keys = await store.listPublishedKeys(db);
  return keys.map(({ kid, sealed }) => JSON.parse(sealing.open('jwks', sealed, kid).toString()));
}

/** RS256, because every OpenID provider has to support it (Core 1.0 §15.1), so client libraries do. */
async function generateKey({ sealing, random }: Dependencies): Promise<store.SealedKey> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const kid = random(12).toString('base64url');
  const key = { ...privateKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' };
  return { kid, sealed: sealing.seal('jwks', Buffer.from(JSON.stringify(key)), kid) };
}
