import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { partnerOf } from '../../../test/support/tokens.ts';
import { type Call, callAs } from '../../../test/support/webhooks.ts';
import { newId } from '../../kernel/ids.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvents } from '../../platform/events/event.ts';
import { placeEvents } from '../../platform/events/store.ts';
import { createDeliveries } from './deliver.ts';
import { deleteOldDeliveries } from './delivery-log.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  insertDeliveries,
  markDelivered,
  planRetry,
  releaseDelivery,
} from './delivery-store.ts';

const PARTNER = partnerOf('partner-one');
const ENDPOINTS = '/v1/webhook-endpoints';
let app: TestApp;
let db: Db;
let call: Call;

// No worker runs: the tests claim and finish deliveries themselves, like the workers of several nodes.
beforeAll(async () => {
  app = await testApp({ config: { webhookAllowCidrs: ['127.0.0.0/8'] } });
  db = app.ctx.db;
  call = await callAs(app);
});
afterAll(() => app.close());
afterEach(async () => {
  const { rows } = await sql`select endpoint_id, subject from webhook_deliveries
    where state = 'pending' and subject is not null
    group by endpoint_id, subject having count(*) filter (where is_head) <> 1`.execute(db);
  expect(rows).toEqual([]);
});

const create = async (): Promise<string> =>
  (await call('POST', ENDPOINTS, { url: 'http://127.0.0.1:9000/hooks', types: ['*'] })).json.id;

/** Appends an event for each subject and gives the events their positions in the log. Returns the ids of the events. */
async function append(...subjects: string[]): Promise<string[]> {
  const events = subjects.map((id) => ({
    ...{ partnerId: PARTNER, userId: null, type: 'offer.published' },
    data: { object: 'offer', id },
  }));
  const ids = await appendEvents(app.ctx, db, events);
  await placeEvents(db);
  return ids;
}

/** Creates an endpoint with a delivery for each subject. Returns the endpoint and the ids of the events. */
async function createQueue(...subjects: string[]): Promise<[string, string[]]> {
  const endpoint = await create();
  const events = await append(...subjects);
  await createDeliveries(app.ctx, endpoint);
  return [endpoint, events];
}

const claim = (endpoint: string, limit = 8) => claimDeliveries(db, endpoint, limit);
const claimIds = async (endpoint: string) => (await claim(endpoint)).map(({ id }) => id);
const succeed = ({ delivery_id }: ClaimedDelivery, tx = db) => markDelivered(tx, delivery_id);

/** Claims and finishes deliveries until none is due. Returns the ids of their events. */
async function drain(endpoint: string): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const claimed = await claim(endpoint);
    if (claimed.length === 0) return ids;
    for (const delivery of claimed) {
      ids.push(delivery.id);
      await succeed(delivery);
    }
  }
}

/** Waits until a transaction is blocked by an advisory lock. */
const waiting = () =>
  expect
    .poll(
      async () =>
        (
          await sql`select from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`.execute(db)
        ).rows.length,
      { timeout: 5_000, interval: 5 },
    )
    .toBe(1);

/** Runs `work` in a transaction, starts `meanwhile`, and commits the transaction once it blocks `meanwhile`. */
async function overlap(work: (tx: Db) => Promise<unknown>, meanwhile: () => Promise<unknown>): Promise<void> {
  let waiter: Promise<unknown> = Promise.resolve();
  await db.transaction().execute(async (tx) => {
    await work(tx);
    waiter = meanwhile();
    await waiting();
  });
  await waiter;
}

test('claims the oldest delivery of each subject, and the next one only when it is finished', async () => {
  const [endpoint, [a1, b1, a2, a3]] = await createQueue('a', 'b', 'a', 'a');
  const [first, second] = await claim(endpoint);
  expect([first?.id, second?.id]).toEqual([a1, b1]);
  expect(await claim(endpoint)).toEqual([]);
  await succeed(first as ClaimedDelivery);
  const [next] = await claim(endpoint);
  expect(next?.id).toBe(a2);
  await planRetry(db, next as ClaimedDelivery, 60_000);
  expect(await claim(endpoint)).toEqual([]);
  await sql`update webhook_deliveries set next_attempt_at = now() where id = ${next?.delivery_id}`.execute(
    db,
  );
  const [retried] = await claim(endpoint);
  expect(retried?.id).toBe(a2);
  await planRetry(db, retried as ClaimedDelivery, null);
  expect(await drain(endpoint)).toEqual([a3]);
});

test('a claim reads few rows, however long the queue', async () => {
  const subjects = Array.from({ length: 500 }, (_, n) => `subject ${n % 4}`);
  const [endpoint] = await createQueue(...subjects);
  const rowsRead = await db.transaction().execute(async (tx) => {
    const count = async () => {
      const { rows } = await sql<{ n: bigint }>`select idx_tup_fetch as n from pg_stat_xact_user_tables
        where relname = 'webhook_deliveries'`.execute(tx);
      return Number(rows[0]?.n);
    };
    // Without this, PostgreSQL might scan a table this small instead of using an index.
    await sql`set local enable_seqscan = off`.execute(tx);
    const before = await count();
    expect(await claimDeliveries(tx, endpoint, 8)).toHaveLength(4);
    return (await count()) - before;
  });
  expect(rowsRead).toBeGreaterThan(0);
  expect(rowsRead).toBeLessThan(60);
});

test('a subject that fails holds back no other, however many fail', async () => {
  const stuck = Array.from({ length: 60 }, (_, n) => `stuck ${n}`);
  const [endpoint, events] = await createQueue(...stuck, ...stuck, 'free');
  const attempted: string[] = [];
  for (let n = 0; n < 8; n++)
    for (const delivery of await claim(endpoint)) {
      attempted.push(delivery.id);
      await planRetry(db, delivery, 60_000);
    }
  expect(attempted).toEqual([...events.slice(0, 60), events.at(-1)]);
});

test('a claim that was released or whose lease has ended is made again before later deliveries', async () => {
  const [endpoint, [a1, a2]] = await createQueue('a', 'a');
  const [dead] = await claim(endpoint);
  await sql`update webhook_deliveries set lease_until = now() where id = ${dead?.delivery_id}`.execute(db);
  const [again] = await claim(endpoint);
  expect([dead?.id, again?.id, again?.attempts]).toEqual([a1, a1, 2]);
  await releaseDelivery(db, again as ClaimedDelivery);
  expect(await drain(endpoint)).toEqual([a1, a2]);
});

describe('the next delivery is not lost', () => {
  test('if it is inserted while the last one is being finished', async () => {
    const [endpoint, [a1]] = await createQueue('a');
    const [last] = await claim(endpoint);
    const [a2] = await append('a');
    await overlap(
      (tx) => succeed(last as ClaimedDelivery, tx),
      () => db.transaction().execute((tx) => insertNew(tx, endpoint, [a2 as string])),
    );
    expect([last?.id, await claimIds(endpoint)]).toEqual([a1, [a2]]);
  });

  test('if the last one is finished while it is being inserted', async () => {
    const [endpoint] = await createQueue('a');
    const [last] = await claim(endpoint);
    const [a2] = await append('a');
    await overlap(
      (tx) => insertNew(tx, endpoint, [a2 as string]),
      () => markDelivered(db, String(last?.delivery_id)),
    );
    expect(await claimIds(endpoint)).toEqual([a2]);
  });

  test('if housekeeping deletes the head, whose event is gone', async () => {
    const [endpoint, [a1, a2]] = await createQueue('a', 'a');
    await sql`delete from events where id = ${a1}`.execute(db);
    expect(await claim(endpoint)).toEqual([]);
    await deleteOldDeliveries(app.ctx);
    expect(await claimIds(endpoint)).toEqual([a2]);
  });

  test('if a resend of the head succeeds, or of a delivery that waits', async () => {
    const [endpoint, events] = await createQueue('a', 'a', 'a', 'a');
    const idOf = async (event: string | undefined) =>
      (
        await sql<{ id: string }>`select id from webhook_deliveries where event_id = ${event}
        and endpoint_id = ${endpoint}`.execute(db)
      ).rows[0]?.id;
    await markDelivered(db, String(await idOf(events[2])));
    await markDelivered(db, String(await idOf(events[0])));
    expect(await drain(endpoint)).toEqual([events[1], events[3]]);
  });
});

/**
 * Inserts deliveries for these events. Unlike `createDeliveries`, does not lock the endpoint, because the other
 * transaction in `overlap` may have locked it.
 */
async function insertNew(tx: Db, endpoint: string, events: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string; sequence: bigint; subject: string }>`
    select id, sequence, ' ' || (data ->> 'id') as subject from events
    where id = any(${events}::uuid[])`.execute(tx);
  await insertDeliveries(
    tx,
    rows.map(({ id, ...row }) => ({
      ...{ id: newId(app.ctx.clock, app.ctx.random), endpoint_id: endpoint, event_id: id, ...row },
      inserted_at: toTimestamp(app.ctx.clock.micros()),
    })),
  );
}

describe('recovery', () => {
  /** Recovers all events from `first` on. Deletes older events, which belong to other tests. */
  const recover = async (endpoint: string, first: string | undefined): Promise<number> => {
    await sql`delete from events where sequence < (select sequence from events where id = ${first})`.execute(
      db,
    );
    // Each event gets its own microsecond, so the newest events may be slightly ahead of the clock.
    app.clock.advance(1);
    const range = { since: '2020-01-01T00:00:00Z' };
    return (await call('POST', `${ENDPOINTS}/${endpoint}/recover`, range)).json.deliveries;
  };

  test('sends failed, skipped and passed-over events before newer ones that were not started', async () => {
    const [endpoint, [a1]] = await createQueue('a');
    const [failed] = await claim(endpoint);
    await planRetry(db, failed as ClaimedDelivery, null);
    const [a2] = await append('a');
    await createDeliveries(app.ctx, endpoint);
    await call('POST', `${ENDPOINTS}/${endpoint}/disable`, {});
    const [a3] = await append('a');
    await call('POST', `${ENDPOINTS}/${endpoint}/enable`, { from: 'now' });
    const [a4] = await append('a');
    await createDeliveries(app.ctx, endpoint);
    expect(await recover(endpoint, a1)).toBe(3);
    expect(await drain(endpoint)).toEqual([a1, a2, a3, a4]);
  });

  test('waits for a newer event that was started', async () => {
    const [endpoint, [a1, a2, a3]] = await createQueue('a', 'a', 'a');
    const [failed] = await claim(endpoint);
    await planRetry(db, failed as ClaimedDelivery, null);
    const [started] = await claim(endpoint);
    expect(started?.id).toBe(a2);
    expect(await recover(endpoint, a1)).toBe(1);
    expect(await claim(endpoint)).toEqual([]);
    await succeed(started as ClaimedDelivery);
    expect(await drain(endpoint)).toEqual([a1, a3]);
  });
});

test('an insert of a delivery that exists changes no head', async () => {
  const [endpoint, [a1, a2]] = await createQueue('a', 'a');
  const [failed] = await claim(endpoint);
  await planRetry(db, failed as ClaimedDelivery, null);
  await insertNew(db, endpoint, [a1 as string]);
  expect(await claimIds(endpoint)).toEqual([a2]);
});

test('a disabled endpoint is not claimed, and continues in order when it is enabled', async () => {
  const [endpoint, [a1, b1, a2]] = await createQueue('a', 'b', 'a');
  const [failed] = await claim(endpoint, 1);
  await planRetry(db, failed as ClaimedDelivery, 60_000);
  await call('POST', `${ENDPOINTS}/${endpoint}/disable`, {});
  expect(await claim(endpoint)).toEqual([]);
  await call('POST', `${ENDPOINTS}/${endpoint}/enable`, {});
  expect(await drain(endpoint)).toEqual([a1, b1, a2]);
});

test('subjects of one endpoint do not wait for those of another', async () => {
  const [one, other] = [await create(), await create()];
  const [a1, a2] = await append('a', 'a');
  for (const endpoint of [one, other]) await createDeliveries(app.ctx, endpoint);
  expect(await claimIds(one)).toEqual([a1]);
  expect(await drain(other)).toEqual([a1, a2]);
  expect(await claim(one)).toEqual([]);
});

test('keeps the order of each subject while several nodes claim, fail and finish and new events arrive', async () => {
  const EVENTS = 240;
  const endpoint = await create();
  const appended: string[] = [];
  const finished: ClaimedDelivery[] = [];
  const inProgress = new Set<unknown>();
  const problems: string[] = [];
  let turn = 0;
  const finish = async (delivery: ClaimedDelivery) => {
    const outcome = turn++ % 5;
    await sleep(outcome);
    inProgress.delete(delivery.data.id);
    if (outcome === 0) return planRetry(db, delivery, 0);
    if (outcome === 1) return releaseDelivery(db, delivery);
    finished.push(delivery);
    return succeed(delivery);
  };
  const runNode = async () => {
    while (finished.length < EVENTS && problems.length === 0) {
      const claimed = await claim(endpoint, 2);
      for (const { data } of claimed) {
        if (inProgress.has(data.id)) problems.push(`two deliveries about ${data.id} at once`);
        inProgress.add(data.id);
      }
      await Promise.all(claimed.map(finish));
    }
  };
  const write = async () => {
    while (finished.length < EVENTS && problems.length === 0) {
      const subjects = Array.from({ length: 3 }, (_, n) => `subject ${(appended.length + n) % 4}`);
      if (appended.length < EVENTS) appended.push(...(await append(...subjects)));
      await createDeliveries(app.ctx, endpoint);
    }
  };
  await Promise.all([runNode(), runNode(), runNode(), write()]);
  expect(problems).toEqual([]);
  for (let n = 0; n < 4; n++)
    expect(finished.filter(({ data }) => data.id === `subject ${n}`).map(({ id }) => id)).toEqual(
      appended.filter((_, at) => at % 4 === n),
    );
}, 60_000);
