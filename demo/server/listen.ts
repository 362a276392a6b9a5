import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Listening = { port: number; close(): Promise<void> };

/** Listens on the first of these ports that is free; 0 is any. */
export async function listenOnFirst(
  host: string,
  ports: readonly number[],
  answer: RequestListener,
): Promise<Listening> {
  for (const port of ports) {
    try {
      return await listenOn(host, port, answer);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    }
  }
  throw new Error(`none of the ports ${ports.join(', ')} is free`);
}

/** The name localhost means two addresses: a browser may try either first, so both are ours or neither. */
async function listenOn(host: string, port: number, answer: RequestListener): Promise<Listening> {
  const [first, ...others] = host === 'localhost' ? ['127.0.0.1', '::1'] : [host];
  const main = await bind(String(first), port, answer);
  const { port: chosen } = main.address() as AddressInfo;
  const servers = [main];
  const close = async () => {
    await Promise.all(servers.map(closeServer));
  };
  for (const other of others) {
    try {
      servers.push(await bind(other, chosen, answer));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') continue;
      await close();
      throw error;
    }
  }
  return { port: chosen, close };
}

function bind(host: string, port: number, answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      done(server);
    });
  });
}

/** Finishes what is being answered, but waits for nobody who only keeps a connection open. */
function closeServer(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 2_000).unref();
  });
}
