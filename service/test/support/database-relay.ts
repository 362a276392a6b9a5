import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';

export type DatabaseRelay = {
  url: string;
  /** Stops forwarding but keeps the connections open. */
  freeze(): void;
  /** Forwards again. Closes the connections that were frozen. */
  thaw(): void;
  /** Returns how many connections are open. */
  count(): number;
  close(): void;
};

/** Starts a proxy in front of the database. `accept` can change a new connection, for example encrypt it. */
export async function openDatabaseRelay(
  url: string,
  accept: (near: Socket) => Socket | Promise<Socket> = (near) => near,
): Promise<DatabaseRelay> {
  const { host, port } = new pg.Client(url);
  let isFrozen = false;
  const open = new Set<Socket>();
  const closeAll = () => {
    for (const near of open) near.destroy();
  };
  const relay = createServer(async (socket) => {
    const near = await accept(socket);
    const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    open.add(near);
    near.on('data', (data) => isFrozen || far.write(data)).on('error', () => undefined);
    far.on('data', (data) => isFrozen || near.write(data)).on('error', () => undefined);
    near.on('close', () => open.delete(near) && far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const target = new URL(url);
  target.searchParams.delete('host');
  target.hostname = '127.0.0.1';
  target.port = String((relay.address() as AddressInfo).port);
  return {
    url: target.href,
    freeze: () => {
      isFrozen = true;
    },
    thaw: () => {
      closeAll();
      isFrozen = false;
    },
    count: () => open.size,
    close: () => {
      closeAll();
      relay.close();
    },
  };
}
