import { createHmac } from 'node:crypto';
import type { Sealing } from './sealing.ts';

/** The key with which an older secret made tags, sealed with a newer secret. */
export type FormerTagKey = { fingerprint: Buffer; sealed: Buffer };

/** Returns the tags that removed secrets made of `data`. `stored` are the keys that were kept of those secrets. */
export function formerTags(
  sealing: Sealing,
  purpose: string,
  stored: readonly FormerTagKey[],
  data: string,
): Buffer[] {
  return openKeys(sealing, purpose, stored).map(({ key }) => createHmac('sha256', key).update(data).digest());
}

/**
 * Returns the keys to keep, so that the tags of all older secrets are still known after those secrets are removed: the
 * keys of the older secrets that are listed, and those already stored, all sealed with the newest secret.
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
