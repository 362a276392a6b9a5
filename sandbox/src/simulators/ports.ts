import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { join } from 'node:path';

/** Starts a server on loopback and returns its base URL. */
export type Listen = (name: string, server: Server) => Promise<string>;

/**
 * Returns a `Listen` function. It reuses each name's previous port if that port is still free, so that URLs survive
 * restarts.
 */
export async function createListen(folder: string): Promise<Listen> {
  const path = join(folder, 'ports.json');
  const ports: Record<string, number> = JSON.parse(await readFile(path, 'utf8').catch(() => '{}'));
  return async (name, server) => {
    const port = await listen(server, ports[name] ?? 0).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
      return listen(server, 0);
    });
    if (ports[name] !== port) {
      ports[name] = port;
      await writeFile(`${path}.new`, JSON.stringify(ports));
      await rename(`${path}.new`, path);
    }
    return `http://127.0.0.1:${port}`;
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}

/** Stops accepting connections and closes open connections. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
