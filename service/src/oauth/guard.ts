import { realTime } from '../clock.ts';
import type { Caller, Guard } from '../http/access.ts';
import type { Kernel } from '../kernel.ts';
import { hashSecret, isSecret } from '../secret-hash.ts';
import { findClient, type RegisteredClient } from './client.ts';
import { listOrigins } from './client-store.ts';
import { type VerifiedToken, verifyToken } from './token-check.ts';

/** Checks bearer tokens, and answers introspection and client lookups from the same cache. */
export type TokenGuard = Guard & {
  /** Applies a database notification. Code on this node calls it directly to take effect before the reply. */
  applyNotification(message: string): void;
  inspect(token: string): VerifiedToken | null | Promise<VerifiedToken | null>;
  client(clientId: string): RegisteredClient | undefined | Promise<RegisteredClient | undefined>;
};

type Dependencies = Pick<Kernel, 'db' | 'pool' | 'listener' | 'log'>;

const MAX_TOKENS = 50_000;
const MAX_CLIENTS = 1_000;
/** Short, because the grace period of a rotated client secret ends without a notification. */
const CLIENT_TTL_MS = 5_000;

/**
 * Creates the bearer guard. Verified tokens are cached until they expire or a notification revokes them. Without
 * the listening connection, every check reads the database.
 */
export async function createGuard(ctx: Dependencies, maxTokens = MAX_TOKENS): Promise<TokenGuard> {
  const { listener } = ctx;
  const tokens = new Map<string, VerifiedToken>();
  const clients = new Map<string, { client: RegisteredClient; expiresAt: number }>();
  let origins = await listOrigins(ctx.db);
  // Counts notifications: a read that started before one may return what it revoked, so it must not be cached.
  let generation = 0;

  const clear = () => {
    generation++;
    tokens.clear();
    clients.clear();
  };
  const reloadOrigins = () => {
    listOrigins(ctx.db).then(
      (loaded) => {
        origins = loaded;
      },
      (err: unknown) => ctx.log.warn({ err }, 'failed to load partner origins'),
    );
  };
  listener.onLost(clear);
  listener.onRestored(() => {
    clear();
    reloadOrigins();
  });
  const applyNotification = (message: string) => {
    generation++;
    const [subject = '', id = ''] = message.split(' ');
    for (const [token, { tags }] of tokens)
      if (tags[subject as keyof VerifiedToken['tags']] === id) tokens.delete(token);
    if (subject === 'client' || subject === 'partner') clients.clear();
    if (subject === 'partner') reloadOrigins();
  };
  await listener.on('oauth', applyNotification);

  const loadToken = async (token: string): Promise<VerifiedToken | null> => {
    if (!isSecret(token)) return null;
    const startedIn = generation;
    const verified = await verifyToken(ctx.pool, hashSecret(token));
    if (verified !== null && startedIn === generation && listener.isConnected())
      addToCache(tokens, token, verified, maxTokens);
    return verified;
  };
  const inspect = (token: string): VerifiedToken | null | Promise<VerifiedToken | null> => {
    const cached = tokens.get(token);
    if (cached === undefined || !listener.isConnected()) return loadToken(token);
    if (cached.expiresAtMs > realTime()) return cached;
    tokens.delete(token);
    return null;
  };
  const loadClient = async (clientId: string): Promise<RegisteredClient | undefined> => {
    const startedIn = generation;
    const client = await findClient(ctx.db, clientId);
    if (client !== undefined && startedIn === generation && listener.isConnected()) {
      addToCache(clients, clientId, { client, expiresAt: performance.now() + CLIENT_TTL_MS }, MAX_CLIENTS);
    }
    return client;
  };
  return {
    applyNotification,
    inspect,
    check: (token): Caller | null | Promise<Caller | null> => {
      const verified = inspect(token);
      if (verified instanceof Promise) return verified.then((token) => token?.caller ?? null);
      return verified?.caller ?? null;
    },
    client: (clientId) => {
      const cached = clients.get(clientId);
      const isFresh = cached !== undefined && cached.expiresAt > performance.now() && listener.isConnected();
      return isFresh ? cached.client : loadClient(clientId);
    },
    knowsOrigin: (origin) => origins.has(origin),
  };
}

/** Evicts the oldest entry when the cache is full. */
function addToCache<T>(cache: Map<string, T>, key: string, value: T, maxSize: number): void {
  cache.delete(key);
  if (cache.size >= maxSize) {
    const [oldest] = cache.keys();
    if (oldest !== undefined) cache.delete(oldest);
  }
  cache.set(key, value);
}
