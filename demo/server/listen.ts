import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Listening = { port: number; close(): Promise<void> };

/** Listens on the first free port in `ports`. Port 0 means any free port. */
export async function listenOnFirst(
  host: string,
  ports: readonly number[],
  listener: RequestListener,
): Promise<Listening> {
  for (const port of ports) {
    try {
      return await listenOn(host, port, listener);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    }
  }
  throw new Error(`no free port among ${ports.join(', ')}; stop the other process or choose another port`);
}

/**
 * Listens on both addresses of localhost, because browsers may try either one first. Throws if the port is in use on
 * either address. If the machine has no IPv6, listens on the IPv4 address only.
 */
async function listenOn(host: string, port: number, listener: RequestListener): Promise<Listening> {
  const [first, ...others] = host === 'localhost' ? ['127.0.0.1', '::1'] : [host];
  const main = await bind(String(first), port, listener);
  const { port: chosen } = main.address() as AddressInfo;
  const servers = [main];
  const close = async () => {
    await Promise.all(servers.map(closeServer));
  };
  for (const other of others) {
    try {
      servers.push(await bind(other, chosen, listener));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') continue;
      await close();
      throw error;
    }
  }
  return { port: chosen, close };
}

function bind(host: string, port: number, listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(server);
    });
  });
}

const CLOSE_TIMEOUT_MS = 2_000;

/** Closes idle connections and waits for the requests in progress. After `CLOSE_TIMEOUT_MS`, closes all connections. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS).unref();
  });
}
