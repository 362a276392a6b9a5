import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { seededRandom } from '../../../test/support/app.ts';
import { realClock } from '../../kernel/clock.ts';
import { createLog } from '../../kernel/log.ts';
import { createSignal } from '../../kernel/signal.ts';
import { openListener } from '../db/listen.ts';
import { type OpenPool, openPool } from '../db/pool.ts';
import { appendEvent, appendEvents } from './event.ts';
import { startSequencer } from './sequencer.ts';
import { EVENTS_CHANNEL, placeEvents } from './store.ts';

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

test('an event that commits late is read after the events that were readable before it', async () => {
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

test('a reader sees every event once while writers commit late and roll back', async () => {
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
  const committed: number[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; i < 40; i++) {
        const n = writer * 1000 + i;
        const isCommitted = (n * 7919) % 5 !== 0;
        await opened.db
          .transaction()
          .execute(async (tx) => {
            await append(tx, n);
            await sleep((n * 31) % 4);
            if (!isCommitted) throw new Error('rolled back');
          })
          .catch(() => undefined);
        if (isCommitted) committed.push(n);
      }
    }),
  );
  writing = false;
  await reader;
  expect(seen.toSorted()).toEqual(committed.toSorted());
});

test('changes of one row are read in the order they were made', async () => {
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
  const read = (await readAfter(0n)).map(({ data }) => data.n);
  expect(read).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
});

test('numbers the events of each partner from 1 without gaps, in the order of their positions', async () => {
  const partners = [2, 3, 4].map((n) => `01890000-0000-7000-8000-00000000000${n}`);
  let writing = true;
  const placer = (async () => {
    while (writing) await placeEvents(opened.db);
  })();
  await Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; i < 30; i++) {
        const n = writer * 30 + i;
        await opened.db
          .transaction()
          .execute(async (tx) => {
            const events = partners.slice(n % 3).map((partnerId) => ({
              ...{ partnerId, userId: null, type: 'thing.changed', data: { n } },
            }));
            await appendEvents(source, tx, events);
            await sleep((n * 31) % 5);
            if (n % 4 === 0) throw new Error('rolled back');
          })
          .catch(() => undefined);
      }
    }),
  );
  writing = false;
  await placer;
  await placeEvents(opened.db);
  for (const partner of partners) {
    const rows = await opened.db
      .selectFrom('events')
      .select('sequence')
      .where('partner_id', '=', partner)
      .orderBy('position')
      .execute();
    expect(rows.length).toBeGreaterThan(50);
    expect(rows.map(({ sequence }) => Number(sequence))).toEqual(rows.map((_, i) => i + 1));
  }
});

test('notifies once per placed batch and never in the transaction of a writer', async () => {
  await placeEvents(opened.db);
  const listener = await openListener(database.url, () => undefined);
  let notified = 0;
  await listener.on(EVENTS_CHANNEL, () => void notified++);
  try {
    for (let n = 0; n < 5; n++) await opened.db.transaction().execute((tx) => append(tx, n));
    await sleep(100);
    expect(notified).toBe(0);
    await placeEvents(opened.db);
    await placeEvents(opened.db);
    await sleep(100);
    expect(notified).toBe(1);
  } finally {
    await listener.close();
  }
});

describe('the sequencer', () => {
  const log = createLog({ level: 'silent', pretty: false });
  const unplaced = async () =>
    (await sql`select from events where position is null`.execute(opened.db)).rows.length;

  test('places the events of its own node without waiting for its interval', async () => {
    const eventsAppended = createSignal();
    const stop = startSequencer({ db: opened.db, log, eventsAppended }, 3_600_000);
    const event = { partnerId: PARTNER, userId: null, type: 'thing.changed', data: {} };
    try {
      await opened.db.transaction().execute((tx) => appendEvent({ ...source, eventsAppended }, tx, event));
      await expect.poll(unplaced, { interval: 10 }).toBe(0);
    } finally {
      await stop();
    }
  });

  test('finds the events of other nodes and of commands at its interval', async () => {
    const stop = startSequencer({ db: opened.db, log, eventsAppended: createSignal() }, 20);
    try {
      await append(opened.db, 1);
      await expect.poll(unplaced, { interval: 10 }).toBe(0);
    } finally {
      await stop();
    }
  });
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
