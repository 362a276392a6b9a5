import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** The range to choose from. Operating systems use higher ports for outgoing connections. */
const FIRST_PORT = 10_000;
const LAST_PORT = 30_000;
const MAX_ATTEMPTS = 100;

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
