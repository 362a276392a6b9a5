import { sql } from 'kysely';
import { realTime } from '../clock.ts';
import type { Caller, Guard } from '../http/access.ts';
import type { Kernel } from '../kernel.ts';
import { hashSecret } from '../secret-hash.ts';
import { findClient, type RegisteredClient } from './client.ts';
import { readToken, type VerifiedToken } from './token-check.ts';

/** The bearer guard, and what introspection needs of the same knowledge. */
export type TokenGuard = Guard & {
  /** Takes a message of the database before it arrives, from whoever caused it on this node. */
  applyNotification(message: string): void;
  inspect(token: string): VerifiedToken | null | Promise<VerifiedToken | null>;
  client(clientId: string): RegisteredClient | undefined | Promise<RegisteredClient | undefined>;
};

type Parts = Pick<Kernel, 'db' | 'pool' | 'listener' | 'log'>;

const MAX_TOKENS = 50_000;
const MAX_CLIENTS = 1_000;
/** A replaced client secret ends by the clock, of which nobody notifies. */
const CLIENT_LIFE = 5_000;

/** Every token of ours: 256 bits in base64url. Anything else needs no look into the database. */
const TOKEN = /^[\w-]{43}$/;

/**
 * Verified tokens are kept until they expire or the database says that they ended. That holds while the listening
 * connection stands: without it every check is a read.
 */
export async function createGuard(ctx: Parts, mostTokens = MAX_TOKENS): Promise<TokenGuard> {
  const { listener } = ctx;
  const tokens = new Map<string, VerifiedToken>();
  const clients = new Map<string, { client: RegisteredClient; until: number }>();
  let origins = await readOrigins(ctx);
  // Counts what was heard: a read that began before a message may bring back what the message ended.
  let heard = 0;

  const forget = () => {
    heard++;
    tokens.clear();
    clients.clear();
  };
  const refreshOrigins = () => {
    readOrigins(ctx).then(
      (read) => {
        origins = read;
      },
      (err: unknown) => ctx.log.warn({ err }, 'the origins of partners could not be read'),
    );
  };
  listener.onLost(forget);
  listener.onRestored(() => {
    forget();
    refreshOrigins();
  });
  const applyNotification = (message: string) => {
    heard++;
    const [what = '', id = ''] = message.split(' ');
    for (const [token, { tags }] of tokens)
      if (tags[what as keyof VerifiedToken['tags']] === id) tokens.delete(token);
    if (what === 'client' || what === 'partner') clients.clear();
    if (what === 'partner') refreshOrigins();
  };
  await listener.on('oauth', applyNotification);

  const load = async (token: string): Promise<VerifiedToken | null> => {
    if (!TOKEN.test(token)) return null;
    const began = heard;
    const verified = await readToken(ctx.pool, hashSecret(token));
    if (verified !== null && began === heard && listener.isConnected())
      keep(tokens, token, verified, mostTokens);
    return verified;
  };
  const inspect = (token: string): VerifiedToken | null | Promise<VerifiedToken | null> => {
    const known = tokens.get(token);
    if (known === undefined || !listener.isConnected()) return load(token);
    if (known.expiresAt > realTime()) return known;
    tokens.delete(token);
    return null;
  };
  const loadClient = async (clientId: string): Promise<RegisteredClient | undefined> => {
    const began = heard;
    const client = await findClient(ctx.db, clientId);
    if (client !== undefined && began === heard && listener.isConnected()) {
      keep(clients, clientId, { client, until: performance.now() + CLIENT_LIFE }, MAX_CLIENTS);
    }
    return client;
  };
  return {
    applyNotification,
    inspect,
    check: (token): Caller | null | Promise<Caller | null> => {
      const found = inspect(token);
      if (found instanceof Promise) return found.then((verified) => verified?.caller ?? null);
      return found?.caller ?? null;
    },
    client: (clientId) => {
      const known = clients.get(clientId);
      const isFresh = known !== undefined && known.until > performance.now() && listener.isConnected();
      return isFresh ? known.client : loadClient(clientId);
    },
    knowsOrigin: (origin) => origins.has(origin),
  };
}

/** The oldest entry makes room: whoever still uses it costs one read. */
function keep<T>(cache: Map<string, T>, key: string, value: T, most: number): void {
  cache.delete(key);
  if (cache.size >= most) {
    const [oldest] = cache.keys();
    if (oldest !== undefined) cache.delete(oldest);
  }
  cache.set(key, value);
}

async function readOrigins({ db }: Parts): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{
    origin: string;
  }>`select distinct unnest(origins) as origin from partners where disabled_at is null`.execute(db);
  return new Set(rows.map(({ origin }) => origin));
}
