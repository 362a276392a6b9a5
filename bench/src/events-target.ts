import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '@causeway/service/context.ts';
import { appendEvents, type NewEvent } from '@causeway/service/events/event.ts';
import { eventRoutes } from '@causeway/service/events/routes.ts';
import { startSequencer } from '@causeway/service/events/sequencer.ts';
import { newId } from '@causeway/service/http/ids.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { issueUserTokens } from '@causeway/service/oauth/issue.ts';
import { createEndpoint } from '@causeway/service/webhooks/endpoint.ts';
import { startWebhookWorker } from '@causeway/service/webhooks/worker.ts';
import { sql } from 'kysely';
import { benchContext } from './context.ts';
import { startTarget } from './load.ts';

/** Sent to the parent process, which then stops this process. */
export type EventFigures = {
  deliveredPerSecond: number;
  firstAttemptP99Ms: number;
  hangingP99Ms: number;
  commitRatio: number;
  streamsMb: number;
  firstPageMs: number;
  deepestPageMs: number;
};

const PARTNERS = 16;
const DELIVERED = 10_000;
const RATE_PER_SECOND = 200;
const RATE_SECONDS = 15;
const HANGING_QUEUE = 10_000;
const STREAMS = 2_000;
const COMMITS = 3_000;
const COMMITTERS = 16;

const rows = Number(process.argv[2]);
const { ctx, clientId } = await benchContext({ webhookAllowCidrs: ['127.0.0.0/8'] });
const receiver = await startTarget('./events-receiver.ts');
const partners = await makePartners(ctx);
for (const partner of partners) await addEndpoint(ctx, partner, `${receiver.target.url}/hooks`);

const commitRatio = await measureCommits(ctx);
const stopSequencer = startSequencer(ctx);
const worker = await startWebhookWorker(ctx);
const deliveredPerSecond = await measureDeliveries(ctx);
const firstAttemptP99Ms = await measureFirstAttempts(ctx);
const hanging = newId(ctx.clock, ctx.random);
await insertPartner(ctx, hanging);
await addEndpoint(ctx, hanging, `${receiver.target.url}/hang`);
for (let n = 0; n < HANGING_QUEUE; n += 500) await appendEvents(ctx, ctx.db, eventsOf(hanging, n, 500));
const hangingP99Ms = await measureFirstAttempts(ctx);
await worker.stop();
await receiver.stop();
const streamsMb = await measureStreams(ctx);
await stopSequencer();
const pages = await measurePages(ctx);
const figures: EventFigures = {
  ...{ deliveredPerSecond, firstAttemptP99Ms, hangingP99Ms, commitRatio, streamsMb },
  ...pages,
};
process.send?.(figures);

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

/** Compares commits that append an event with commits that do not, in alternating rounds. */
async function measureCommits(context: Context): Promise<number> {
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
  const change = (appends: NewEvent[]) =>
    context.db.transaction().execute(async (tx) => {
      // Stands for a typical change, apart from its event: a locked read and two writes.
      await sql`insert into bench_changes (note) values ('change')`.execute(tx);
      await sql`select from bench_changes where id = 1 for key share`.execute(tx);
      await sql`insert into bench_changes (note) values ('change')`.execute(tx);
      await appendEvents(context, tx, appends);
    });
  const ratios: number[] = [];
  await run(() => change([]));
  for (let round = 0; round < 5; round++) {
    const without = await run(() => change([]));
    const withEvents = await run((n) => change(eventsOf(partners[n % PARTNERS] ?? '', n, 1)));
    ratios.push(withEvents / without);
  }
  return ratios.toSorted((a, b) => a - b)[2] ?? 0;
}

async function countDelivered({ db }: Context): Promise<number> {
  const { rows: found } = await sql<{ n: bigint }>`select count(*) as n from webhook_deliveries
    where state = 'delivered'`.execute(db);
  return Number(found[0]?.n);
}

async function waitForDeliveries(context: Context, count: number): Promise<void> {
  while ((await countDelivered(context)) < count) await sleep(50);
}

/** Appends events for all partners at full speed and waits until all are delivered. */
async function measureDeliveries(context: Context): Promise<number> {
  const { rows: appended } = await sql<{ n: bigint }>`select count(*) as n from events`.execute(context.db);
  const earlier = Number(appended[0]?.n);
  await waitForDeliveries(context, earlier);
  const startedAt = performance.now();
  const share = DELIVERED / PARTNERS;
  await Promise.all(
    partners.map(async (partner) => {
      for (let n = 0; n < share; n += 5) await appendEvents(context, context.db, eventsOf(partner, n, 5));
    }),
  );
  await waitForDeliveries(context, earlier + DELIVERED);
  return DELIVERED / ((performance.now() - startedAt) / 1000);
}

/** Appends events at a steady rate and returns the 99th percentile of the time until their first attempt. */
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
async function measureStreams(context: Context): Promise<number> {
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
  return added / 2 ** 20;
}

/** Compares the newest page with the oldest in a log of `rows` events. */
async function measurePages(context: Context): Promise<Pick<EventFigures, 'firstPageMs' | 'deepestPageMs'>> {
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
