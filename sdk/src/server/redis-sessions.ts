import type { SessionStorage } from './session-storage.ts';

/** The part of an `ioredis` or `redis` (node-redis) client that the SDK uses. */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(args: string[]): Promise<unknown> };

export type RedisSessionsOptions = {
  /** The prefix of every key. Default: `causeway:session:`. */
  prefix?: string | undefined;
};

/**
 * Stores sessions in Redis or Valkey, shared by all processes of your server.
 *
 * @example
 * ```ts
 * import { createSignIn, type RedisClient, redisSessions } from '@causeway/sdk/server';
 *
 * export function createAppSignIn(redis: RedisClient, clientSecret: string, cookieSecret: string) {
 *   return createSignIn({
 *     baseUrl: 'http://127.0.0.1:8080',
 *     clientId: 'sandbox-partner',
 *     clientSecret,
 *     redirectUri: 'http://localhost:3000/callback',
 *     cookieSecret,
 *     store: redisSessions(redis), // new Redis(process.env.REDIS_URL)
 *   });
 * }
 * ```
 */
export function redisSessions(
  client: RedisClient,
  { prefix = 'causeway:session:' }: RedisSessionsOptions = {},
): SessionStorage {
  // ioredis also has a `sendCommand`, but with different parameters, so `call` is checked first.
  const send = (command: string, ...args: string[]) =>
    'call' in client ? client.call(command, ...args) : client.sendCommand([command, ...args]);
  return {
    read: async (key) => {
      const value = await send('GET', prefix + key);
      return value === null || value === undefined ? undefined : String(value);
    },
    write: async (key, value, ttlS) => void (await send('SET', prefix + key, value, 'EX', String(ttlS))),
    update: async (key, value, ttlS) =>
      void (await send('SET', prefix + key, value, 'EX', String(ttlS), 'XX')),
    delete: async (key) => void (await send('DEL', prefix + key)),
  };
}
