import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { openDatabaseRelay } from '../../../test/support/database-relay.ts';
import { openListener } from './listen.ts';
import { type OpenPool, openPool } from './pool.ts';

// Generous for a busy machine; normally the tests take far less time.
const POLL = { timeout: 20_000 };
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

test('receives notifications of its channels only, including names that need quoting', async () => {
  const received: string[] = [];
  const listener = await openListener(database.url, () => undefined);
  await listener.on('plain', (payload) => received.push(`plain ${payload}`));
  await listener.on('Odd "name"', (payload) => received.push(`odd ${payload}`));
  await notify('other', '1');
  await notify('plain', '2');
  await notify('Odd "name"', '3');
  await expect.poll(() => received, POLL).toEqual(['plain 2', 'odd 3']);
  await listener.close();
});

test('reports a lost connection, reconnects and receives on every channel again', async () => {
  const events: string[] = [];
  const listener = await openListener(database.url, () => undefined);
  listener.onLost(() => events.push(`lost ${listener.isConnected()}`));
  listener.onRestored(() => events.push(`restored ${listener.isConnected()}`));
  await listener.on('one', (payload) => events.push(payload));
  await listener.on('two', (payload) => events.push(payload));
  for (const round of ['first', 'second']) {
    for (const pid of await listenerPids()) await open.pool.query('select pg_terminate_backend($1)', [pid]);
    await expect.poll(() => events.at(-1), POLL).toBe('restored true');
    await notify('one', `${round} one`);
    await notify('two', `${round} two`);
    await expect.poll(() => events.at(-1), POLL).toBe(`${round} two`);
  }
  const around = (round: string) => ['lost false', 'restored true', `${round} one`, `${round} two`];
  expect(events).toEqual([...around('first'), ...around('second')]);
  await listener.close();
});

test('a handler that throws does not affect other handlers', async () => {
  const received: string[] = [];
  const logged: string[] = [];
  const listener = await openListener(database.url, (message) => logged.push(message));
  await listener.on('shared', () => {
    throw new Error('broken handler');
  });
  await listener.on('shared', (payload) => received.push(payload));
  await notify('shared', 'still here');
  await expect.poll(() => received, POLL).toEqual(['still here']);
  expect(logged).toEqual(['notification handler failed: broken handler']);
  await listener.close();
});

test('detects a server that stops responding without closing the connection', async () => {
  const relay = await openDatabaseRelay(database.url);
  const events: string[] = [];
  const listener = await openListener(relay.url, () => undefined, { pingIntervalMs: 50, pingTimeoutMs: 200 });
  listener.onLost(() => events.push('lost'));
  listener.onRestored(() => events.push('restored'));
  await listener.on('silent', (payload) => events.push(payload));
  relay.freeze();
  await expect.poll(() => events, POLL).toEqual(['lost']);
  relay.thaw();
  await expect.poll(() => events, POLL).toEqual(['lost', 'restored']);
  await notify('silent', 'received');
  await expect.poll(() => events.at(-1), POLL).toBe('received');
  await listener.close();
  relay.close();
});

test('close ends the connection and does not reopen it', async () => {
  const listener = await openListener(database.url, () => undefined);
  await listener.on('any', () => undefined);
  await listener.close();
  await expect.poll(listenerPids, POLL).toEqual([]);
  await expect(listener.on('more', () => undefined)).rejects.toThrow('closed');
});

test('fails to open without a server', async () => {
  await expect(openListener('postgresql://nobody@127.0.0.1:1/none', () => undefined)).rejects.toThrow(
    'ECONNREFUSED',
  );
});
