import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { ConfigError } from '../../kernel/config/config.ts';

/** The range to choose from. Operating systems use higher ports for outgoing connections. */
const FIRST_PORT = 10_000;
const LAST_PORT = 30_000;
const MAX_ATTEMPTS = 100;

const REASONS: Record<string, string> = {
  EADDRINUSE: 'is already in use; stop the process that is using it or choose another port',
  EACCES: 'needs more privileges; choose a port above 1023',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'cannot be resolved',
};

/** Returns the origin of a server on a host and port. IPv6 addresses are bracketed in URLs (RFC 3986 §3.2.2). */
export function httpOrigin(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Finds a free port. The port must be known before the server is built, because the server's address appears in tokens
 * and discovery documents. The server starts to listen only seconds later, so the port must be one that no outgoing
 * connection can take in the meantime.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    try {
      await probe(host, port);
      return port;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

async function probe(host: string, port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  await new Promise((resolve) => server.close(resolve));
}

/** Runs `listen`. If the address cannot be used, throws `ConfigError` with a one-line explanation. */
export async function listenOrExplain<T>(
  settings: string,
  host: string,
  port: number,
  listen: () => Promise<T>,
): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    const reason = REASONS[String((error as { code?: unknown }).code)];
    if (reason === undefined) throw error;
    throw new ConfigError([`${settings}: ${host} port ${port} ${reason}`]);
  }
}
