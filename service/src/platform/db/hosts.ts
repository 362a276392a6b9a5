import pg from 'pg';
import { splitHosts } from '../../kernel/config/parsers.ts';

/** The hosts of one database, a primary and its standbys, from a URL like `postgres://user@one:5432,two:5432/name`. */
export type Hosts = {
  count: number;
  /** The URL of the host that new connections use. */
  url(): string;
  /** Moves on to the next host, unless another connection has already done so. */
  advance(failedUrl: string): void;
  /** Records that the client is connected to `url`, which is the primary. */
  confirm(client: object, url: string): void;
  /** Returns whether the client is connected to the latest known primary. */
  isCurrent(client: object): boolean;
};

export function openHosts(url: string): Hosts {
  const urls = splitHosts(url);
  const urlOf = new WeakMap<object, string>();
  let current = 0;
  let primary: string | undefined;
  const at = (index: number) => urls[index % urls.length] ?? url;
  return {
    count: urls.length,
    url: () => at(current),
    advance: (failedUrl) => {
      if (at(current) === failedUrl) current++;
    },
    confirm: (client, connectedUrl) => {
      urlOf.set(client, connectedUrl);
      // If `advance` moved on to another host while this client was connecting, this client's host must not replace the
      // known primary.
      if (primary === undefined || at(current) === connectedUrl) primary = connectedUrl;
    },
    isCurrent: (client) => urlOf.get(client) === primary,
  };
}

/** Throws if the server is read-only. After a failover, the former primary can be a standby. */
async function assertPrimary(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  if (rows[0]?.transaction_read_only === 'on')
    throw Object.assign(new Error('the database host is read-only'), { code: '25006' });
}

type Connect = (callback: (error: Error | undefined) => void) => void;

/** Returns options with which a pool connects to the host that is currently the primary. */
export function followPrimary(hosts: Hosts): Pick<pg.PoolConfig, 'Client'> {
  if (hosts.count === 1) return {};
  function Client(options: pg.ClientConfig): pg.Client {
    const url = hosts.url();
    const client = new pg.Client({ ...options, connectionString: url });
    const connect = client.connect.bind(client) as Connect;
    const fail = (error: Error, callback: (error: Error) => void) => {
      hosts.advance(url);
      callback(error);
    };
    const connectToPrimary: Connect = (callback) =>
      connect((error) => {
        if (error) return fail(error, callback);
        assertPrimary(client).then(
          () => {
            hosts.confirm(client, url);
            callback(undefined);
          },
          (reason: Error) => void client.end().finally(() => fail(reason, callback)),
        );
      });
    return Object.assign(client, { connect: connectToPrimary });
  }
  return { Client: Client as unknown as NonNullable<pg.PoolConfig['Client']> };
}

type PoolCallback = (error?: Error, client?: pg.PoolClient, release?: (error?: Error) => void) => void;

/**
 * Makes the pool try the other hosts if it cannot connect to one. Closes connections to a former primary instead of
 * handing them out. Such connections can still work and return old data, for example if the server was frozen during
 * the failover.
 */
export function retryOnOtherHosts(pool: pg.Pool, hosts: Hosts): void {
  if (hosts.count === 1) return;
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  const connectToAny = async (attempts = hosts.count): Promise<pg.PoolClient> => {
    const url = hosts.url();
    const client = await connect().catch((error: unknown) => {
      if (attempts <= 1 || hosts.url() === url) throw error;
      return connectToAny(attempts - 1);
    });
    if (hosts.isCurrent(client)) return client;
    client.release(true);
    return connectToAny();
  };
  const either = (callback?: PoolCallback) =>
    callback === undefined
      ? connectToAny()
      : void connectToAny().then(
          (client) => callback(undefined, client, client.release.bind(client)),
          (error: Error) => callback(error, undefined, () => undefined),
        );
  Object.assign(pool, { connect: either });
}
