import type { Kernel } from '../../platform/context/kernel.ts';
import * as artifacts from './artifact-store.ts';
import * as grants from './grant-store.ts';
import * as keys from './key-store.ts';
import * as tokens from './token-store.ts';

type Dependencies = Pick<Kernel, 'db'>;

/** How long expired data is kept, so that requests in flight still find it. */
const EXPIRED_RETENTION = '1 hour';

export function deleteExpiredTokens({ db }: Dependencies): Promise<void> {
  return tokens.deleteExpiredTokens(db, EXPIRED_RETENTION);
}

/** Deletes expired codes, refresh tokens, interactions and sessions. */
export function deleteExpiredArtifacts({ db }: Dependencies): Promise<void> {
  return artifacts.deleteExpiredArtifacts(db, EXPIRED_RETENTION);
}

/**
 * Deletes revoked grants, and grants that have neither tokens nor artifacts. Runs after expired tokens and artifacts
 * have been deleted.
 */
export function deleteUnusedGrants({ db }: Dependencies): Promise<void> {
  return grants.deleteUnusedGrants(db, EXPIRED_RETENTION);
}

export function deleteRetiredKeys({ db }: Dependencies): Promise<void> {
  return keys.deleteRetiredKeys(db);
}
