import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { seededRandom } from '../../test/support/app.ts';
import { realClock } from '../clock.ts';
import { type OpenPool, openPool } from '../db/pool.ts';
import { appendEvent, placeEvents } from './event.ts';

const PARTNER = '01890000-0000-7000-8000-000000000001';
const source = { clock: realClock(), random: seededRandom('events') };
let database: TestDatabase;
let opened: OpenPool;

beforeAll(async () => {
  database = await createTestDatabase();
  opened = openPool(database.url, { max: 20 });
});
afterAll(async () => {
  await opened.close();
  await database.drop();
});

const append = (tx: OpenPool['db'], n: number) =>
  appendEvent(source, tx, { partnerId: PARTNER, userId: null, type: 'thing.changed', data: { n } });

async function readAfter(position: bigint) {
  await placeEvents(opened.db);
  return opened.db
    .selectFrom('events')
    .select(['position', 'data'])
    .where('position', '>', position)
    .orderBy('position')
    .execute();
}

test('an event whose transaction commits late is read after those that were readable before it', async () => {
  const held = gate();
  const late = opened.db.transaction().execute(async (tx) => {
    await append(tx, 1);
    held.entered();
    await held.hold;
  });
  await held.inside;
  await append(opened.db, 2);
  const first = await readAfter(0n);
  expect(first.map(({ data }) => data.n)).toEqual([2]);
  held.release();
  await late;
  const second = await readAfter(first.at(-1)?.position ?? 0n);
  expect(second.map(({ data }) => data.n)).toEqual([1]);
});

test('a reader by position sees every event once while many write, commit late and roll back', async () => {
  await sql`truncate events`.execute(opened.db);
  const seen: unknown[] = [];
  let position = 0n;
  let writing = true;
  const read = async () => {
    const rows = await readAfter(position);
    for (const row of rows) seen.push(row.data.n);
    position = rows.at(-1)?.position ?? position;
  };
  const reader = (async () => {
    while (writing) await read();
    await read();
  })();
  const kept: number[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; i < 40; i++) {
        const n = writer * 1000 + i;
        const keep = (n * 7919) % 5 !== 0;
        await opened.db
          .transaction()
          .execute(async (tx) => {
            await append(tx, n);
            await sleep((n * 31) % 4);
            if (!keep) throw new Error('rolled back');
          })
          .catch(() => undefined);
        if (keep) kept.push(n);
      }
    }),
  );
  writing = false;
  await reader;
  expect(seen.toSorted()).toEqual(kept.toSorted());
});

test('two changes of one row are told in the order they were made', async () => {
  await sql`truncate events`.execute(opened.db);
  await sql`create table counter (n int)`.execute(opened.db);
  await sql`insert into counter values (0)`.execute(opened.db);
  await Promise.all(
    Array.from({ length: 60 }, () =>
      opened.db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ n: number }>`update counter set n = n + 1 returning n`.execute(tx);
        await append(tx, rows[0]?.n ?? -1);
      }),
    ),
  );
  const told = (await readAfter(0n)).map(({ data }) => data.n);
  expect(told).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
});

function gate() {
  let release = () => {};
  let entered = () => {};
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  const inside = new Promise<void>((resolve) => {
    entered = resolve;
  });
  return { hold, inside, release, entered };
}
