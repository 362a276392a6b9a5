import type { Kernel } from '../kernel.ts';
import { deleteExpiredArtifacts } from './artifact-store.ts';
import { deleteUnusedGrants } from './grant-store.ts';
import { deleteRetiredKeys } from './key-store.ts';
import { deleteExpiredTokens } from './token-store.ts';

/** Covers requests in flight and clock skew between nodes. */
const EXPIRED_RETENTION = '1 hour';

/** Deletes expired tokens, codes and sessions, then grants without any, and retired signing keys. */
export async function deleteExpiredGrants({ db }: Pick<Kernel, 'db'>): Promise<void> {
  await deleteExpiredTokens(db, EXPIRED_RETENTION);
  await deleteExpiredArtifacts(db, EXPIRED_RETENTION);
  await deleteUnusedGrants(db, EXPIRED_RETENTION);
  await deleteRetiredKeys(db);
}
