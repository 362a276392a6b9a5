import type { KoaContextWithOIDC } from 'oidc-provider';
import { hashSecret } from '../../kernel/secret-hash.ts';
import type { Db } from '../../platform/db/pool.ts';
import { consumeArtifact } from './token-store.ts';

/** A refresh token is replaced once this share of its lifetime has passed. */
const ROTATE_AFTER_PERCENT = 70;

/**
 * How long a rotated refresh token is still accepted. This leeway is needed because replies get lost and clients
 * refresh in parallel. A later use of the token counts as theft and revokes the grant.
 */
export const REFRESH_LEEWAY_SECONDS = 30;

export function shouldRotate({ oidc }: KoaContextWithOIDC): boolean {
  return (oidc.entities.RefreshToken?.ttlPercentagePassed() ?? 0) >= ROTATE_AFTER_PERCENT;
}

/** The first call starts the leeway, in which every use of the token issues a new one for the same grant. */
export async function consumeRefreshToken(db: Db, token: string): Promise<void> {
  await consumeArtifact(db, 'RefreshToken', hashSecret(token));
}
