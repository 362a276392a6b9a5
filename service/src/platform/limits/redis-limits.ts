import { createClient } from '@redis/client';
import { type Limiter, memoryLimiter, taken, WINDOW_MS } from './rate-limits.ts';

const COMMAND_TIMEOUT_MS = 250;
/**
 * How long a node stops using Redis after a failed command, so that an unresponsive Redis server does not delay every
 * request.
 */
const PAUSE_MS = 1_000;
const MAX_RECONNECT_DELAY_MS = 2_000;

/**
 * Opens a rate limiter that counts requests in Redis, for several nodes behind one address. The limiter also counts
 * every request in memory. While Redis does not respond, the in-memory count applies, so that there is always a limit.
 */
export function openRedisLimiter(
  url: string,
  warn: (message: string) => void,
): { limiter: Limiter; close(): void } {
  const memory = memoryLimiter();
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: 2_000,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, MAX_RECONNECT_DELAY_MS),
    },
  });
  let isDown = false;
  let pausedUntil = 0;
  const report = (down: boolean) => {
    if (down !== isDown) warn(down ? 'Redis is down: each node counts requests separately' : 'Redis is back');
    isDown = down;
  };
  client.on('error', () => report(true));
  client.on('ready', () => report(false));
  void client.connect().catch(() => report(true));

  const take = async (key: string, perMinute: number) => {
    const local = await memory.take(key, perMinute);
    if (!client.isReady || performance.now() < pausedUntil) return local;
    try {
      const name = `causeway:limit:${key}`;
      // The key expires one minute after its first counted request.
      const counted = client
        .multi()
        .set(name, 0, { condition: 'NX', expiration: { type: 'PX', value: WINDOW_MS } })
        .incr(name)
        .pTTL(name)
        .exec();
      const [, count, remainingMs] = await withTimeout(counted);
      return taken(Number(count), perMinute, Number(remainingMs));
    } catch {
      pausedUntil = performance.now() + PAUSE_MS;
      return local;
    }
  };
  return { limiter: { take }, close: () => client.destroy() };
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('Redis did not answer in time')), COMMAND_TIMEOUT_MS);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
