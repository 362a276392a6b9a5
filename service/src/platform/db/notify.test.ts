import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { type Listener, openListener } from './listen.ts';
import { notifyAfterCommit } from './notify.ts';
import { type OpenPool, openPool } from './pool.ts';

const POLL = { timeout: 20_000, interval: 10 };
let database: TestDatabase;
let open: OpenPool;
let listener: Listener;
const received: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  open = openPool(database.url, { max: 1 });
  listener = await openListener(database.url, () => undefined);
  await listener.on('work', (payload) => received.push(payload));
});
beforeEach(() => {
  received.length = 0;
});
afterAll(async () => {
  await listener.close();
  await open.close();
  await database.drop();
});

/** Waits until every notification sent so far has arrived. */
async function arrived(): Promise<string[]> {
  await notifyAfterCommit(open.db, 'work', 'last');
  await expect.poll(() => received.at(-1), POLL).toBe('last');
  return received.slice(0, -1);
}

test.each(['untagged', 'tagged'])('notifies once after the commit of an %s transaction', async (kind) => {
  const db = kind === 'tagged' ? open.tagged({ requestId: 'request', actor: null }) : open.db;
  await db.transaction().execute(async (tx) => {
    for (const payload of ['a', 'b', 'a']) await notifyAfterCommit(tx, 'work', payload);
  });
  expect(await arrived()).toEqual(['a', 'b']);
});

test('does not notify after a rollback, nor with the next transaction of the connection', async () => {
  await expect(
    open.db.transaction().execute(async (tx) => {
      await notifyAfterCommit(tx, 'work', 'rolled back');
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  await open.db.transaction().execute((tx) => sql`select 1`.execute(tx));
  expect(await arrived()).toEqual([]);
});

test('a notification that comes after the commit is not sent with another transaction', async () => {
  const ended = await open.db.transaction().execute(async (tx) => tx);
  await notifyAfterCommit(ended, 'work', 'late').catch(() => undefined);
  await open.db.transaction().execute((tx) => sql`select 1`.execute(tx));
  expect(await arrived()).toEqual([]);
});

test('a transaction has succeeded even if its notification fails', async () => {
  const result = await open.db.transaction().execute(async (tx) => {
    await sql`create table committed (id int)`.execute(tx);
    // PostgreSQL refuses payloads of 8000 bytes or more.
    await notifyAfterCommit(tx, 'work', 'x'.repeat(9_000));
    return 'done';
  });
  expect(result).toBe('done');
  await sql`drop table committed`.execute(open.db);
  expect(await arrived()).toEqual([]);
});

// NOTIFY in a writing transaction makes all commits wait for each other, so only two kinds of functions may use it: the
// sequencer, which assigns positions in a separate transaction, and the functions for revocations and changed offers,
// which are rare and whose notifications must survive a crash.
test('only revocations, changed offers and the sequencer notify inside a transaction', async () => {
  const { rows } = await sql<{ name: string; tables: string[] | null }>`
    select p.proname as name, array_agg(distinct t.tgrelid::regclass::text order by t.tgrelid::regclass::text)
      filter (where t.oid is not null) as tables
    from pg_proc p left join pg_trigger t on t.tgfoid = p.oid
    where p.prosrc ~* 'notify' and p.pronamespace = 'public'::regnamespace
    group by p.proname order by p.proname`.execute(open.db);
  expect(rows).toEqual([
    {
      name: 'notify_oauth',
      tables: ['oauth_clients', 'oauth_grants', 'oauth_signing_keys', 'oauth_tokens', 'partners'],
    },
    {
      name: 'notify_offers',
      tables: [
        ...['assets', 'offer_contracts', 'offer_funding_assets', 'offer_funding_tokens', 'offer_options'],
        ...['offer_partners', 'offers', 'requirements'],
      ],
    },
    { name: 'place_events', tables: null },
  ]);
});
