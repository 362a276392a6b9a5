import { realTime } from '../clock.ts';
import { createNotifiedCache } from '../db/notified-cache.ts';
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
  const tokens = createNotifiedCache<VerifiedToken>(listener, maxTokens);
  const clients = createNotifiedCache<{ client: RegisteredClient; expiresAt: number }>(listener, MAX_CLIENTS);
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

  const inspect = (token: string): VerifiedToken | null | Promise<VerifiedToken | null> => {
    const cached = tokens.get(token);
    if (cached === undefined)
      return isSecret(token) ? tokens.load(token, () => verifyToken(ctx.pool, hashSecret(token))) : null;
    if (cached.expiresAtMs > realTime()) return cached;
    tokens.delete(token);
    return null;
  };
  const loadClient = async (clientId: string): Promise<RegisteredClient | undefined> => {
    const loaded = await clients.load(clientId, async () => {
      const client = await findClient(ctx.db, clientId);
      return client && { client, expiresAt: performance.now() + CLIENT_TTL_MS };
    });
    return loaded?.client;
  };
  return {
    applyNotification,
    inspect,
    isCached: (token) => tokens.get(token) !== undefined,
    check: (token): Caller | null | Promise<Caller | null> => {
      const verified = inspect(token);
      if (verified instanceof Promise) return verified.then((token) => token?.caller ?? null);
      return verified?.caller ?? null;
    },
    client: (clientId) => {
      const cached = clients.get(clientId);
      const isFresh = cached !== undefined && cached.expiresAt > performance.now();
      return isFresh ? cached.client : loadClient(clientId);
    },
    knowsOrigin: (origin) => origins.has(origin),
  };
}
