/**
 * Where sessions are stored on the server. Keys are hashes of session ids and values are encrypted, so nobody can sign
 * in with a copy of the storage.
 */
export type SessionStorage = {
  read(key: string): Promise<string | undefined>;
  /** Stores a value for `ttlS` seconds. Replaces the key's earlier value, if there is one. */
  write(key: string, value: string, ttlS: number): Promise<void>;
  /**
   * Like `write`, but only if the key still exists: a renewal that finishes after a sign-out must not restore the
   * session.
   */
  update(key: string, value: string, ttlS: number): Promise<void>;
  delete(key: string): Promise<void>;
};

export type MemorySessionsOptions = {
  /** The maximum number of sessions. Beyond this number, the oldest session is dropped. Default: 10,000. */
  maxSessions?: number | undefined;
  now?: (() => number) | undefined;
};

const DEFAULT_MAX_SESSIONS = 10_000;

/**
 * Stores sessions in this process's memory. A restart signs everyone out, and other processes cannot see the sessions.
 * Use `postgresSessions` or `redisSessions` in production.
 *
 * @example
 * ```ts
 * import { memorySessions } from '@causeway/sdk/server';
 *
 * const sessions = memorySessions();
 * await sessions.write('key', 'value', 60);
 * console.log(await sessions.read('key')); // "value"
 * ```
 */
export function memorySessions(options: MemorySessionsOptions = {}): SessionStorage {
  const { maxSessions = DEFAULT_MAX_SESSIONS, now = Date.now } = options;
  const entries = new Map<string, { value: string; expiresAt: number }>();
  const find = (key: string) => {
    const entry = entries.get(key);
    if (entry === undefined || entry.expiresAt > now()) return entry;
    entries.delete(key);
    return undefined;
  };
  const write = (key: string, value: string, ttlS: number) => {
    entries.delete(key);
    entries.set(key, { value, expiresAt: now() + ttlS * 1000 });
    const [oldest] = entries.keys();
    if (entries.size > maxSessions && oldest !== undefined) entries.delete(oldest);
  };
  return {
    read: async (key) => find(key)?.value,
    write: async (key, value, ttlS) => write(key, value, ttlS),
    update: async (key, value, ttlS) => {
      if (find(key) !== undefined) write(key, value, ttlS);
    },
    delete: async (key) => void entries.delete(key),
  };
}
