import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Operating systems choose the local ports of outgoing connections above this range. */
const FIRST_PORT = 10_000;
const LAST_PORT = 30_000;
const MAX_ATTEMPTS = 100;

/**
 * Finds a free port. The server's address must be known before the server is built, because it appears in
 * tokens and in the discovery documents. The service starts to listen seconds after the search, so the port
 * must not be one that an outgoing connection can take in the meantime.
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
