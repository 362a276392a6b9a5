import net, { type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { openListener } from './listen.ts';
import { type OpenPool, openPool } from './pool.ts';

// For a busy machine; what is waited for comes far sooner.
const patience = { timeout: 20_000 };
let database: TestDatabase;
let open: OpenPool;

beforeAll(async () => {
  database = await createTestDatabase();
  open = openPool(database.url);
});

afterAll(async () => {
  await open.close();
  await database.drop();
});

function notify(channel: string, payload: string) {
  return open.pool.query('select pg_notify($1, $2)', [channel, payload]);
}

async function listenerPids(): Promise<number[]> {
  const { rows } = await open.pool.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'causeway-listen' and datname = current_database()`,
  );
  return rows.map(({ pid }) => pid);
}

test('hears what is notified, on its channel only, names needing quotes included', async () => {
  const heard: string[] = [];
  const listener = await openListener(database.url, () => undefined);
  await listener.on('plain', (payload) => heard.push(`plain ${payload}`));
  await listener.on('Odd "name"', (payload) => heard.push(`odd ${payload}`));
  await notify('other', '1');
  await notify('plain', '2');
  await notify('Odd "name"', '3');
  await expect.poll(() => heard, patience).toEqual(['plain 2', 'odd 3']);
  await listener.close();
});

test('says when it is lost, comes back, and hears again on every channel', async () => {
  const events: string[] = [];
  const listener = await openListener(database.url, () => undefined);
  listener.onLost(() => events.push(`lost ${listener.isConnected()}`));
  listener.onRestored(() => events.push(`restored ${listener.isConnected()}`));
  await listener.on('one', (payload) => events.push(payload));
  await listener.on('two', (payload) => events.push(payload));
  for (const round of ['first', 'second']) {
    for (const pid of await listenerPids()) await open.pool.query('select pg_terminate_backend($1)', [pid]);
    await expect.poll(() => events.at(-1), patience).toBe('restored true');
    await notify('one', `${round} one`);
    await notify('two', `${round} two`);
    await expect.poll(() => events.at(-1), patience).toBe(`${round} two`);
  }
  const around = (round: string) => ['lost false', 'restored true', `${round} one`, `${round} two`];
  expect(events).toEqual([...around('first'), ...around('second')]);
  await listener.close();
});

test('a handler that throws keeps nobody else from hearing', async () => {
  const heard: string[] = [];
  const logged: string[] = [];
  const listener = await openListener(database.url, (message) => logged.push(message));
  await listener.on('shared', () => {
    throw new Error('broken handler');
  });
  await listener.on('shared', (payload) => heard.push(payload));
  await notify('shared', 'still here');
  await expect.poll(() => heard, patience).toEqual(['still here']);
  expect(logged).toEqual(['a handler of notifications failed: broken handler']);
  await listener.close();
});

test('notices a server that has become silent without closing the connection', async () => {
  const relay = await openRelay(database.url);
  const events: string[] = [];
  const listener = await openListener(relay.url, () => undefined, { pingEveryMs: 50, pingTimeoutMs: 200 });
  listener.onLost(() => events.push('lost'));
  listener.onRestored(() => events.push('restored'));
  await listener.on('silent', (payload) => events.push(payload));
  relay.freeze();
  await expect.poll(() => events, patience).toEqual(['lost']);
  relay.thaw();
  await expect.poll(() => events, patience).toEqual(['lost', 'restored']);
  await notify('silent', 'heard');
  await expect.poll(() => events.at(-1), patience).toBe('heard');
  await listener.close();
  relay.close();
});

test('closes for good: the connection is gone and is not opened again', async () => {
  const listener = await openListener(database.url, () => undefined);
  await listener.on('any', () => undefined);
  await listener.close();
  await expect.poll(listenerPids, patience).toEqual([]);
  await expect(listener.on('more', () => undefined)).rejects.toThrow('closed');
});

test('refuses to open when there is no server', async () => {
  await expect(openListener('postgresql://nobody@127.0.0.1:1/none', () => undefined)).rejects.toThrow(
    'ECONNREFUSED',
  );
});

/** Stands between listener and server, and can stop passing anything on while keeping connections open. */
async function openRelay(url: string) {
  const target = new URL(url);
  const socketFolder = target.searchParams.get('host');
  const { hostname, port } = target;
  let frozen = false;
  const ends: Socket[] = [];
  const relay = net.createServer((near) => {
    const far = socketFolder
      ? net.connect(join(socketFolder, `.s.PGSQL.${port}`))
      : net.connect(Number(port || 5432), hostname);
    ends.push(near, far);
    near.on('data', (data) => frozen || far.write(data)).on('error', () => far.destroy());
    far.on('data', (data) => frozen || near.write(data)).on('error', () => near.destroy());
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  target.searchParams.delete('host');
  target.hostname = '127.0.0.1';
  target.port = String((relay.address() as AddressInfo).port);
  return {
    url: target.href,
    freeze: () => {
      frozen = true;
    },
    thaw: () => {
      for (const end of ends.splice(0)) end.destroy();
      frozen = false;
    },
    close: () => {
      for (const end of ends) end.destroy();
      relay.close();
    },
  };
}
