import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket, connect as tcpConnect } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { testApp } from '../../../test/support/app.ts';
import { type Pooler, startTransactionPooler } from '../../../test/support/transaction-pooler.ts';
import { openListener } from './listen.ts';
import { openPool } from './pool.ts';
import { assertSessions } from './session-check.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe('behind a pooler in transaction mode', () => {
  let old: Pooler;
  let modern: Pooler;
  beforeAll(async () => {
    old = await startTransactionPooler(database.url);
    modern = await startTransactionPooler(database.url, { preparesStatements: true });
  });
  afterAll(() => Promise.all([old.close(), modern.close()]));

  test('refuses one that loses prepared statements', () =>
    expect(assertSessions(old.url, database.url)).rejects.toThrow(
      /DATABASE_URL: prepared statements do not persist/,
    ));

  test('refuses one that loses notifications, unless they have a URL of their own', async () => {
    await expect(assertSessions(modern.url, modern.url)).rejects.toThrow(/set DATABASE_LISTEN_URL/);
    await expect(assertSessions(modern.url, database.url)).resolves.toBeUndefined();
  });

  test('accepts a direct connection', () =>
    expect(assertSessions(database.url, database.url)).resolves.toBeUndefined());

  test('serves requests and revocations through the pooler beside DATABASE_LISTEN_URL', async () => {
    const node = await testApp({ databaseUrl: modern.url, config: { databaseListenUrl: database.url } });
    const headers = { authorization: `Bearer ${await node.tokenFor()}` };
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        node.app.inject({ url: i % 2 === 0 ? '/v1/offers' : '/v1/participations', headers }),
      ),
    );
    expect(new Set(replies.map((reply) => reply.statusCode))).toEqual(new Set([200]));
    expect((await node.app.inject('/health/ready')).json().parts).toMatchObject({ listener: 'ok' });
    await node.close();
  });

  test('reports a listener whose notifications no longer arrive as not ready', async () => {
    const node = await testApp({ databaseUrl: database.url, config: { databaseListenUrl: modern.url } });
    // Checks repeatedly, because a notification does arrive if one of the listener's pings happens to be using the
    // server connection at that moment.
    const check = async () => {
      const reply = await node.app.inject('/health/ready');
      return [reply.statusCode, reply.json().errors?.parts.listener];
    };
    await expect.poll(check, { timeout: 10_000, interval: 300 }).toEqual([503, 'unavailable']);
    await node.close();
  });
});

describe('a database on several hosts', () => {
  /** Starts a host that forwards connections to the database until the host is stopped. A standby accepts no writes. */
  async function startHost(role: 'primary' | 'standby' = 'primary') {
    const { host, port } = new pg.Client({ connectionString: database.url });
    const open = new Set<Socket>();
    const server = createServer((socket) => {
      const upstream = tcpConnect({ path: `${host}/.s.PGSQL.${port}` });
      for (const each of [socket, upstream])
        each.on('error', () => undefined).on('close', () => socket.destroy());
      open.add(socket.on('close', () => upstream.destroy()));
      socket.once('data', (startup: Buffer) => {
        upstream.write(role === 'standby' ? asReadOnly(startup) : startup);
        socket.pipe(upstream).pipe(socket);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const stop = () => {
      server.close();
      for (const socket of open) socket.destroy();
    };
    /** Keeps the open connections but accepts no new ones, like a server that was frozen and has resumed. */
    const refuse = () => server.close();
    return { address, stop, refuse };
  }

  /**
   * Makes the session read-only by adding a parameter to the startup message. The first four bytes of the message are
   * its length.
   */
  function asReadOnly(startup: Buffer): Buffer {
    const parameter = Buffer.from('default_transaction_read_only\0on\0\0');
    const changed = Buffer.concat([startup.subarray(0, -1), parameter]);
    changed.writeInt32BE(changed.length);
    return changed;
  }

  const urlOf = (...hosts: { address: string }[]) => {
    const { user, database: name } = new pg.Client({ connectionString: database.url });
    return `postgres://${user}@${hosts.map(({ address }) => address).join(',')}/${name}`;
  };

  test('connects to another host when one is down, at the start and later', async () => {
    const [one, two, three] = await Promise.all([startHost(), startHost(), startHost()]);
    one.stop();
    const url = urlOf(one, two, three);
    const { pool, close } = openPool(url, { max: 2 });
    const listener = await openListener(url, () => undefined);
    const received: string[] = [];
    await listener.on('hosts', (payload) => received.push(payload));
    await pool.query("select pg_notify('hosts', 'before')");
    await expect.poll(() => received).toEqual(['before']);
    two.stop();
    await expect
      .poll(async () => {
        await pool.query("select pg_notify('hosts', 'after')").catch(() => undefined);
        return received;
      })
      .toContain('after');
    await listener.close();
    await close();
    three.stop();
  });

  test('reads nothing from a former primary that has kept its connections', async () => {
    const [former, primary] = await Promise.all([startHost(), startHost()]);
    const { pool, close } = openPool(urlOf(former, primary), { max: 3 });
    const pids = (count: number) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const client = await pool.connect();
          const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
          return { client, pid: rows[0]?.pid ?? 0 };
        }),
      );
    const idle = await pids(2);
    for (const { client } of idle) client.release();
    former.refuse();
    const all = await pids(3);
    const old = idle.map(({ pid }) => pid);
    expect(all.filter(({ pid }) => old.includes(pid))).toHaveLength(2);
    for (const { client } of all) client.release();
    const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
    const later = await pids(3);
    for (const { pid } of [...rows, ...later]) expect(old).not.toContain(pid);
    for (const { client } of later) client.release();
    await close();
    for (const host of [former, primary]) host.stop();
  });

  test('uses the primary, not a standby', async () => {
    const [standby, primary] = await Promise.all([startHost('standby'), startHost()]);
    const { pool, close } = openPool(urlOf(standby, primary), { max: 2 });
    const { rows } = await pool.query('show transaction_read_only');
    expect(rows).toEqual([{ transaction_read_only: 'off' }]);
    await close();
    for (const host of [standby, primary]) host.stop();
  });
});
