import { newCaller } from '../../kernel/access.ts';
import { hashSecret, isSecret } from '../../kernel/secret-hash.ts';
import type { Kernel } from '../../platform/context/kernel.ts';
import type { RegisteredClient, TokenGuard, VerifiedToken } from '../../platform/context/ports.ts';
import { createNotifiedCache } from '../../platform/db/notified-cache.ts';
import type { Db } from '../../platform/db/pool.ts';
import { clientNetwork } from '../../platform/http/network.ts';
import { findClient } from './client.ts';
import { listOrigins } from './client-store.ts';
import { findActiveToken } from './token-store.ts';

type Dependencies = Pick<Kernel, 'db' | 'laneOf' | 'listener' | 'log'>;

const OWN_LANE = '';
const MAX_TOKENS = 50_000;
const MAX_CLIENTS = 1_000;
/** Short, because no notification is sent when the grace period of a rotated client secret ends. */
const CLIENT_TTL_MS = 5_000;

/**
 * Creates the bearer guard. Verified tokens are cached until they expire or a notification revokes them. While the
 * notification connection is down, every check reads the database.
 */
export async function createGuard(ctx: Dependencies, maxTokens = MAX_TOKENS): Promise<TokenGuard> {
  const { listener } = ctx;
  const tokens = createNotifiedCache<VerifiedToken>(listener, maxTokens);
  const clients = createNotifiedCache<{ client: RegisteredClient; expiresAt: number }>(listener, MAX_CLIENTS);
  const cacheCounts = { hits: 0, misses: 0 };
  let origins = await listOrigins(ctx.db);

  const reloadOrigins = () => {
    listOrigins(ctx.db).then(
      (loaded) => {
        origins = loaded;
      },
      (err: unknown) => ctx.log.warn({ err }, 'failed to load partner origins'),
    );
  };
  listener.onRestored(reloadOrigins);
  const applyNotification = (message: string) => {
    const [subject = '', id = ''] = message.split(' ');
    tokens.invalidate(({ tags }) => tags[subject as keyof VerifiedToken['tags']] === id);
    if (subject === 'client' || subject === 'partner') clients.invalidate();
    if (subject === 'partner') reloadOrigins();
  };
  await listener.on('oauth', applyNotification);

  const findCached = (token: string): VerifiedToken | null | undefined => {
    const cached = tokens.get(token);
    if (cached === undefined) cacheCounts.misses++;
    else cacheCounts.hits++;
    if (cached === undefined || cached.expiresAt > performance.now()) return cached;
    tokens.delete(token);
    return null;
  };
  const load = (token: string, network: string): null | Promise<VerifiedToken | null> =>
    isSecret(token) ? tokens.load(token, () => verifyToken(ctx.laneOf(network).db, hashSecret(token))) : null;
  const loadClient = async (clientId: string): Promise<RegisteredClient | undefined> => {
    const loaded = await clients.load(clientId, async () => {
      const client = await findClient(ctx.db, clientId);
      return client && { client, expiresAt: performance.now() + CLIENT_TTL_MS };
    });
    return loaded?.client;
  };
  return {
    cacheCounts,
    applyNotification,
    inspect: (token, network = OWN_LANE) => {
      const cached = findCached(token);
      return cached === undefined ? load(token, network) : cached;
    },
    isCached: (token) => tokens.get(token) !== undefined,
    partnerOf: (token) => tokens.get(token)?.caller.partnerId,
    check: (token, request) => {
      const cached = findCached(token);
      if (cached !== undefined) return cached?.caller ?? null;
      return (
        load(token, request === undefined ? OWN_LANE : clientNetwork(request))?.then(
          (verified) => verified?.caller ?? null,
        ) ?? null
      );
    },
    client: (clientId) => {
      const cached = clients.get(clientId);
      const isFresh = cached !== undefined && cached.expiresAt > performance.now();
      return isFresh ? cached.client : loadClient(clientId);
    },
    knowsOrigin: (origin) => origins.has(origin),
  };
}

async function verifyToken(db: Db, hash: Buffer): Promise<VerifiedToken | null> {
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
