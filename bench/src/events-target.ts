import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '@causeway/service/context.ts';
import type { Db } from '@causeway/service/db/pool.ts';
import { appendEvents, type NewEvent } from '@causeway/service/events/event.ts';
import { eventRoutes } from '@causeway/service/events/routes.ts';
import { startSequencer } from '@causeway/service/events/sequencer.ts';
import { newId } from '@causeway/service/http/ids.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { issueUserTokens } from '@causeway/service/oauth/issue.ts';
import { wakeSettlement } from '@causeway/service/participations/wake.ts';
import { createEndpoint } from '@causeway/service/webhooks/endpoint.ts';
import { startWebhookWorker } from '@causeway/service/webhooks/worker.ts';
import { sql } from 'kysely';
import { benchContext } from './context.ts';
import { median, startTarget } from './load.ts';

/** The figures of each part. Sent to the parent process, which then stops this process. */
export type EventFigures = {
  /** `cpuMsPerEvent` counts only this process, not the database or the receiver. */
  deliveries: { deliveredPerSecond: number; cpuMsPerEvent: number };
  hanging: { firstAttemptP99Ms: number; hangingP99Ms: number; ratios: number[] };
  commits: { ratios: number[]; wakingRatios: number[] };
  streams: { streamsMb: number };
  pages: { firstPageMs: number; deepestPageMs: number };
};
export type EventPart = keyof EventFigures;

const PARTNERS = 16;
const DELIVERED = 10_000;
const RATE_PER_SECOND = 200;
const RATE_SECONDS = 10;
const HANGING_QUEUE = 10_000;
const STREAMS = 2_000;
const COMMITS = 500;
const COMMITTERS = 16;
const ROUNDS = 15;
const HANGING_ROUNDS = 3;

const [part = '', rows = 0] = [process.argv[2], Number(process.argv[3])];
const { ctx, clientId } = await benchContext({ webhookAllowCidrs: ['127.0.0.0/8'] });
const partners = await makePartners(ctx);
const measures: { [Part in EventPart]: () => Promise<EventFigures[Part]> } = {
  commits: () => measureCommits(ctx),
  deliveries: () => measureDeliveries(ctx),
  hanging: () => measureHanging(ctx),
  streams: () => measureStreams(ctx),
  pages: () => measurePages(ctx),
};
process.send?.(await measures[part as EventPart]());

async function insertPartner({ db }: Context, id: string): Promise<void> {
  await sql`insert into partners (id, name) values (${id}, ${`Partner ${id}`})`.execute(db);
}

async function makePartners(context: Context): Promise<string[]> {
  const ids = Array.from({ length: PARTNERS }, () => newId(context.clock, context.random));
  for (const id of ids) await insertPartner(context, id);
  return ids;
}

async function addEndpoint(context: Context, partnerId: string, url: string): Promise<void> {
  await createEndpoint(context, { partnerId }, { url, types: ['*'] });
}

function eventsOf(partnerId: string, from: number, count: number): NewEvent[] {
  return Array.from({ length: count }, (_, n) => ({
    ...{ partnerId, userId: null, type: 'offer.published' },
    data: { object: 'offer', id: `offer ${from + n}` },
  }));
}

/**
 * Compares commits that append an event, and commits that wake settlement, with commits that do neither.
 * Alternates them in many short rounds, so that machine load affects all alike. Each commit makes only a
 * small change (a locked read and two writes), because the relative cost of an event is highest there.
 */
async function measureCommits(context: Context): Promise<EventFigures['commits']> {
  await sql`create table bench_changes (id bigint generated always as identity primary key, note text)`.execute(
    context.db,
  );
  const run = async (work: (n: number) => Promise<unknown>) => {
    const startedAt = performance.now();
    let n = 0;
    const commit = async () => {
      while (n < COMMITS) await work(n++);
    };
    await Promise.all(Array.from({ length: COMMITTERS }, commit));
    return COMMITS / (performance.now() - startedAt);
  };
  const change = (report: (tx: Db) => Promise<unknown>) =>
    context.db.transaction().execute(async (tx) => {
      await sql`insert into bench_changes (note) values ('change')`.execute(tx);
      await sql`select from bench_changes where id = 1 for key share`.execute(tx);
      await sql`insert into bench_changes (note) values ('change')`.execute(tx);
      await report(tx);
    });
  const append = (tx: Db, n: number) =>
    appendEvents(context, tx, eventsOf(partners[n % PARTNERS] ?? '', n, 1));
  const ratios: number[] = [];
  const wakingRatios: number[] = [];
  await run(() => change(async () => undefined));
  for (let round = 0; round < ROUNDS; round++) {
    const without = await run(() => change(async () => undefined));
    ratios.push((await run((n) => change((tx) => append(tx, n)))) / without);
    const waking = await run(() => change((tx) => wakeSettlement(tx, 'base_mainnet')));
    wakingRatios.push(waking / without);
  }
  return { ratios, wakingRatios };
}

/** Starts a receiver and the webhook worker, and adds one endpoint per partner. */
async function startDelivering(context: Context) {
  const receiver = await startTarget('./events-receiver.ts');
  for (const partner of partners) await addEndpoint(context, partner, `${receiver.target.url}/hooks`);
  startSequencer(context);
  const worker = await startWebhookWorker(context);
  return {
    url: receiver.target.url,
    stop: async () => {
      await worker.stop();
      await receiver.stop();
    },
  };
}

async function countDelivered({ db }: Context): Promise<number> {
  const { rows: found } = await sql<{ n: bigint }>`select count(*) as n from webhook_deliveries
    where state = 'delivered'`.execute(db);
  return Number(found[0]?.n);
}

async function waitForDeliveries(context: Context, count: number): Promise<void> {
  while ((await countDelivered(context)) < count) await sleep(200);
}

/** Appends events for all partners at full speed and waits until all are delivered. */
async function measureDeliveries(context: Context): Promise<EventFigures['deliveries']> {
  const { stop } = await startDelivering(context);
  const run = async (count: number, earlier: number) => {
    const startedAt = performance.now();
    const append = async (partner: string) => {
      for (let n = 0; n < count / PARTNERS; n += 5)
        await appendEvents(context, context.db, eventsOf(partner, n, 5));
    };
    await Promise.all(partners.map(append));
    await waitForDeliveries(context, earlier + count);
    return count / ((performance.now() - startedAt) / 1000);
  };
  const warmUp = DELIVERED / 10;
  await run(warmUp, 0);
  const before = process.cpuUsage();
  const deliveredPerSecond = await run(DELIVERED, warmUp);
  const { user, system } = process.cpuUsage(before);
  await stop();
  return { deliveredPerSecond, cpuMsPerEvent: (user + system) / 1000 / DELIVERED };
}

/**
 * Compares the time until the first delivery attempt with and without another endpoint that hangs and has a
 * long queue, in alternating rounds.
 */
async function measureHanging(context: Context): Promise<EventFigures['hanging']> {
  const { url, stop } = await startDelivering(context);
  const hanging = newId(context.clock, context.random);
  await insertPartner(context, hanging);
  await addEndpoint(context, hanging, `${url}/hang`);
  for (let n = 0; n < HANGING_QUEUE; n += 500)
    await appendEvents(context, context.db, eventsOf(hanging, n, 500));
  const measure = async (state: 'enabled' | 'disabled') => {
    await sql`update webhook_endpoints set state = ${state} where partner_id = ${hanging}`.execute(
      context.db,
    );
    await sleep(2_000);
    return measureFirstAttempts(context);
  };
  const alone: number[] = [];
  const beside: number[] = [];
  await measure('enabled');
  for (let round = 0; round < HANGING_ROUNDS; round++) {
    alone.push(await measure('disabled'));
    beside.push(await measure('enabled'));
  }
  await stop();
  return {
    firstAttemptP99Ms: median(alone),
    hangingP99Ms: median(beside),
    ratios: beside.map((p99, round) => p99 / (alone[round] ?? Infinity)),
  };
}

/**
 * Appends events at a steady rate. Returns the 99th percentile of the time from an event to its first
 * delivery attempt.
 */
async function measureFirstAttempts(context: Context): Promise<number> {
  const since = new Date().toISOString();
  const startedAt = performance.now();
  const count = RATE_PER_SECOND * RATE_SECONDS;
  for (let n = 0; n < count; n++) {
    const wait = startedAt + (n * 1000) / RATE_PER_SECOND - performance.now();
    if (wait > 1) await sleep(wait);
    await appendEvents(context, context.db, eventsOf(partners[n % PARTNERS] ?? '', n, 1));
  }
  await sleep(3_000);
  const { rows: found } = await sql<{ p99: number; n: bigint }>`
    select percentile_disc(0.99) within group (order by extract(epoch from a.at - e.inserted_at) * 1000)::float8 as p99,
      count(*) as n
    from events e join webhook_deliveries d on d.event_id = e.id join webhook_attempts a on a.delivery_id = d.id
    where e.inserted_at >= ${since}::timestamptz and e.partner_id = any(${partners}::uuid[])`.execute(
    context.db,
  );
  if (Number(found[0]?.n) < count) throw new Error(`only ${found[0]?.n} of ${count} events were attempted`);
  return found[0]?.p99 ?? Infinity;
}

/** Returns the memory that the streams add to this process, in megabytes. */
async function measureStreams(context: Context): Promise<EventFigures['streams']> {
  const tokens: string[] = [];
  for (let n = 0; n < STREAMS / 10; n++) {
    const userId = newId(context.clock, context.random);
    await context.db
      .insertInto('users')
      .values({ id: userId, email: `${userId}@user.test`, kind: 'person', password_hash: null })
      .execute();
    const scopes = ['events:read'];
    tokens.push((await issueUserTokens(context, { clientId, userId, scopes })).access_token);
  }
  const app = await buildServer(context, eventRoutes);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const before = process.memoryUsage().rss;
  const readers = await startTarget('./events-readers.ts', [url, String(STREAMS), ...tokens]);
  await sleep(1_000);
  const added = process.memoryUsage().rss - before;
  await readers.stop();
  return { streamsMb: added / 2 ** 20 };
}

/** Compares how long it takes to read the newest and the oldest page of a log of `rows` events. */
async function measurePages(context: Context): Promise<EventFigures['pages']> {
  const partner = newId(context.clock, context.random);
  await insertPartner(context, partner);
  for (let from = 0; from < rows; from += 20_000)
    await sql`insert into events (id, partner_id, type, data, inserted_at, position, sequence)
      select gen_random_uuid(), ${partner}, 'offer.published', '{"object":"offer"}', now(), ${10 ** 12 + from} + i, ${from} + i
      from generate_series(1, ${Math.min(20_000, rows - from)}) i`.execute(context.db);
  await sql`insert into partner_sequences values (${partner}, ${rows})`.execute(context.db);
  await sql`analyze events`.execute(context.db);
  const userless = { partnerId: partner, userId: null };
  const { listEvents } = await import('@causeway/service/events/store.ts');
  const time = async (sequence: string | null) => {
    const times: number[] = [];
    for (let n = 0; n < 200; n++) {
      const startedAt = performance.now();
      await listEvents(context.db, userless, [], { direction: 'older', sequence, limit: 21 });
      times.push(performance.now() - startedAt);
    }
    return times.toSorted((a, b) => a - b)[100] ?? 0;
  };
  await time(null);
  return { firstPageMs: await time(null), deepestPageMs: await time('22') };
}
