import { createHmac } from 'node:crypto';
import type { Sealing } from './sealing.ts';

/**
 * A tag key (see `Sealing.tagKeys`) that was derived from an older secret. The key is stored sealed with a newer
 * secret.
 */
export type FormerTagKey = { fingerprint: Buffer; sealed: Buffer };

/** Returns a tag of `data` for each key in `stored`, that is, for each older secret. */
export function formerTags(
  sealing: Sealing,
  purpose: string,
  stored: readonly FormerTagKey[],
  data: string,
): Buffer[] {
  return openKeys(sealing, purpose, stored).map(({ key }) => createHmac('sha256', key).update(data).digest());
}

/**
 * Returns the tag keys to store: those derived from older secrets that are still configured, and those in `stored`.
 * With these keys, tags made with an older secret are still recognized after that secret is removed. All keys are
 * sealed with the newest secret.
 */
export function sealTagKeys(
  sealing: Sealing,
  purpose: string,
  stored: readonly FormerTagKey[],
): FormerTagKey[] {
  const [, ...older] = sealing
    .tagKeys(purpose)
    .map((key, index) => ({ key, fingerprint: sealing.fingerprints[index] ?? Buffer.alloc(0) }));
  return [...older, ...openKeys(sealing, purpose, stored)].map(({ key, fingerprint }) => ({
    fingerprint,
    sealed: sealing.seal(keyPurpose(purpose), key, fingerprint.toString('hex')),
  }));
}

function openKeys(sealing: Sealing, purpose: string, stored: readonly FormerTagKey[]) {
  return stored.map(({ fingerprint, sealed }) => ({
    fingerprint,
    key: sealing.open(keyPurpose(purpose), sealed, fingerprint.toString('hex')),
  }));
}

function keyPurpose(purpose: string): string {
  return `${purpose} key`;
}
