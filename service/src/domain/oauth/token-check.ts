import { newCaller } from '../../kernel/access.ts';
import type { VerifiedToken } from '../../platform/context/ports.ts';
import type { Db } from '../../platform/db/pool.ts';
import { findActiveToken } from './token-store.ts';

export async function verifyToken(db: Db, hash: Buffer): Promise<VerifiedToken | null> {
  const startedAt = performance.now();
  const row = await findActiveToken(db, hash);
  if (row === undefined) return null;
  // When a client loses a scope, its existing tokens lose the scope too, even if the client later regains it.
  const scopes = row.scope
    .split(' ')
    .filter((scope) => row.client_scopes.includes(scope) && !row.removed_scopes.includes(scope));
  return {
    caller: newCaller({
      clientId: row.client_id,
      partnerId: row.partner_id,
      userId: row.user_id,
      scopes: new Set(scopes),
      origins: new Set(row.origins),
    }),
    scope: scopes.join(' '),
    username: scopes.includes('email') ? row.email : null,
    iat: Math.floor(row.iat),
    exp: Math.floor(row.exp),
    expiresAt: startedAt + row.seconds_left * 1000,
    tags: {
      token: `\\x${hash.toString('hex')}`,
      grant: row.grant_id,
      client: row.client_id,
      partner: row.partner_id,
      user: row.user_id,
    },
  };
}
