import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '@causeway/service/context.ts';
import { appendEvents, type NewEvent } from '@causeway/service/events/event.ts';
import { eventRoutes } from '@causeway/service/events/routes.ts';
import { startSequencer } from '@causeway/service/events/sequencer.ts';
import { newId } from '@causeway/service/http/ids.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { toTimestamp } from '@causeway/service/http/wire.ts';
import { issueUserTokens } from '@causeway/service/oauth/issue.ts';
import { createEndpoint, disableEndpoint, enableEndpoint } from '@causeway/service/webhooks/endpoint.ts';
import { startWebhookWorker } from '@causeway/service/webhooks/worker.ts';
import { sql } from 'kysely';
import { benchContext } from './context.ts';
import { type AuditFigures, measureAudit } from './events-audit.ts';
import { type CommitFigures, measureCommits } from './events-commits.ts';
import { measurePages, type PageFigures } from './events-pages.ts';
import { median } from './statistics.ts';
import { startTarget } from './target.ts';

/**
 * The figures for each part of this benchmark. This process measures one part and sends the figures to the parent
 * process, which then stops this process.
 */
export type EventFigures = {
  /** `cpuMsPerEvent` counts only this process, not the database or the receiver. */
  deliveries: { deliveredPerSecond: number; cpuMsPerEvent: number };
  /** `eventsPerSecond` is the append rate in the slowest round. */
  hanging: { firstAttemptP99Ms: number; hangingP99Ms: number; ratios: number[]; eventsPerSecond: number };
  commits: CommitFigures;
  streams: { streamsMb: number; arrivalP99Ms: number };
  pages: PageFigures;
  audit: AuditFigures;
};
export type EventPart = keyof EventFigures;

const PARTNERS = 16;
/** How many events one call appends. */
const BATCH = 5;
const RATE_PER_SECOND = 200;
/** How many deliveries to the hanging endpoint are in progress at once. This is the service's limit per endpoint. */
const MAX_HANGING = 8;
const HANGING_ROUNDS = 5;
const MAX_WAIT_MS = 30_000;
const STREAMED_EVENTS = 2_000;

const [part = '', size = 0] = [process.argv[2], Number(process.argv[3])];
const { ctx, clientId } = await benchContext({ webhookAllowCidrs: ['127.0.0.0/8'] });
const partners = await makePartners(ctx);
const measures: { [Part in EventPart]: () => Promise<EventFigures[Part]> } = {
  commits: () => measureCommits(ctx, clientId, size),
  deliveries: () => measureDeliveries(ctx, size),
  hanging: () => measureHanging(ctx, size),
  streams: () => measureStreams(ctx, size),
  pages: () => measurePages(ctx, size),
  audit: () => measureAudit(ctx, size),
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

async function addEndpoint(context: Context, partnerId: string, url: string): Promise<string> {
  return (await createEndpoint(context, { partnerId }, { url, types: ['*'] })).id;
}

function eventsOf(partnerId: string, from: number, count: number): NewEvent[] {
  return Array.from({ length: count }, (_, n) => ({
    ...{ partnerId, userId: null, type: 'offer.published' },
    data: { object: 'offer', id: `offer ${from + n}` },
  }));
}

/** Returns a new event for a user, with the current time as `appended_at`. */
function boundWallet(partnerId: string, userId: string): NewEvent {
  return {
    partnerId,
    userId,
    type: 'wallet.bound',
    data: { object: 'wallet', id: userId, appended_at: Date.now() },
  };
}

/** Starts a receiver, the sequencer and the webhook worker, and adds one endpoint per partner. */
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
async function measureDeliveries(context: Context, size: number): Promise<EventFigures['deliveries']> {
  const { stop } = await startDelivering(context);
  const run = async (count: number, earlier: number) => {
    const startedAt = performance.now();
    const append = async (partner: string) => {
      for (let n = 0; n < count / PARTNERS; n += BATCH)
        await appendEvents(context, context.db, eventsOf(partner, n, BATCH));
    };
    await Promise.all(partners.map(append));
    await waitForDeliveries(context, earlier + count);
    return count / ((performance.now() - startedAt) / 1000);
  };
  // Rounded up, so that each partner appends whole batches.
  const count = Math.ceil(size / (PARTNERS * BATCH)) * PARTNERS * BATCH;
  const warmUp = Math.ceil(size / 10 / (PARTNERS * BATCH)) * PARTNERS * BATCH;
  await run(warmUp, 0);
  const before = process.cpuUsage();
  const deliveredPerSecond = await run(count, warmUp);
  const { user, system } = process.cpuUsage(before);
  await stop();
  return { deliveredPerSecond, cpuMsPerEvent: (user + system) / 1000 / count };
}

/**
 * Measures how much a hanging endpoint delays deliveries to the other endpoints. Rounds alternate: in one, the hanging
 * endpoint is enabled and has `size` deliveries queued; in the next, it is disabled. Each round appends `size / 5`
 * events for the healthy endpoints and measures the time until each event's first delivery attempt.
 */
async function measureHanging(context: Context, size: number): Promise<EventFigures['hanging']> {
  const { url, stop } = await startDelivering(context);
  const hanging = newId(context.clock, context.random);
  await insertPartner(context, hanging);
  const id = await addEndpoint(context, hanging, `${url}/hang`);
  await disableEndpoint(context, { partnerId: hanging }, id);
  for (let n = 0; n < size; n += 500)
    await appendEvents(context, context.db, eventsOf(hanging, n, Math.min(500, size - n)));
  const rates: number[] = [];
  const measure = async () => {
    const { p99Ms, eventsPerSecond } = await measureFirstAttempts(context, size / 5);
    rates.push(eventsPerSecond);
    return p99Ms;
  };
  const measureBeside = async () => {
    await enableEndpoint(context, { partnerId: hanging }, id, { from: 'stopped' });
    await waitForHanging(context, MAX_HANGING);
    return measure();
  };
  const measureAlone = async () => {
    await disableEndpoint(context, { partnerId: hanging }, id);
    await waitForHanging(context, 0);
    return measure();
  };
  const alone: number[] = [];
  const beside: number[] = [];
  await measure();
  for (let round = 0; round < HANGING_ROUNDS; round++) {
    beside.push(await measureBeside());
    alone.push(await measureAlone());
  }
  await stop();
  return {
    firstAttemptP99Ms: median(alone),
    hangingP99Ms: median(beside),
    ratios: beside.map((p99, round) => p99 / (alone[round] ?? Infinity)),
    eventsPerSecond: Math.min(...rates),
  };
}

/** Waits until `count` delivery attempts are in progress and every enabled endpoint has read all events. */
async function waitForHanging({ db }: Context, count: number): Promise<void> {
  for (;;) {
    const { rows: found } = await sql<{ attempts: bigint; behind: bigint }>`
      select (select count(*) from webhook_deliveries where state = 'pending' and lease_until > now()) as attempts,
        (select count(*) from webhook_endpoints w join partner_sequences s on s.partner_id = w.partner_id
          where w.state <> 'disabled' and w.cursor < s.last) as behind`.execute(db);
    if (Number(found[0]?.attempts) === count && Number(found[0]?.behind) === 0) return;
    await sleep(50);
  }
}

/** Appends `count` events at a steady rate. Returns the actual rate. */
async function appendSteadily(count: number, append: (n: number) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  const appends: Promise<unknown>[] = [];
  for (let n = 0; n < count; n++) {
    const wait = startedAt + (n * 1000) / RATE_PER_SECOND - performance.now();
    if (wait > 1) await sleep(wait);
    appends.push(append(n));
  }
  await Promise.all(appends);
  return (count / (performance.now() - startedAt)) * 1000;
}

/**
 * Appends events at a steady rate. Returns the actual rate, and the 99th percentile of the time from appending an event
 * to its first delivery attempt.
 */
async function measureFirstAttempts(
  context: Context,
  count: number,
): Promise<{ p99Ms: number; eventsPerSecond: number }> {
  const since = toTimestamp(context.clock.micros());
  const eventsPerSecond = await appendSteadily(count, (n) =>
    appendEvents(context, context.db, eventsOf(partners[n % PARTNERS] ?? '', n, 1)),
  );
  for (let waited = 0; waited < MAX_WAIT_MS; waited += 500) {
    await sleep(500);
    const { rows: found } = await sql<{ p99: number; n: bigint }>`
      select percentile_disc(0.99) within group (order by extract(epoch from a.at - e.inserted_at) * 1000)::float8 as p99,
        count(*) as n
      from events e join webhook_deliveries d on d.event_id = e.id join webhook_attempts a on a.delivery_id = d.id
      where e.inserted_at >= ${since}::timestamptz and e.partner_id = any(${partners}::uuid[])`.execute(
      context.db,
    );
    if (Number(found[0]?.n) >= count) return { p99Ms: found[0]?.p99 ?? Infinity, eventsPerSecond };
  }
  throw new Error(`not all of ${count} events had a delivery attempt within ${MAX_WAIT_MS} ms`);
}

/**
 * Opens `count` streams, ten per user. Then appends 2,000 events at a steady rate, cycling through the users. Returns
 * the memory that the streams add to this process, and the 99th percentile of the time from appending an event to its
 * arrival at a stream.
 */
async function measureStreams(context: Context, count: number): Promise<EventFigures['streams']> {
  const users: string[] = [];
  const tokens: string[] = [];
  for (let n = 0; n < count / 10; n++) {
    const userId = newId(context.clock, context.random);
    await context.db
      .insertInto('users')
      .values({ id: userId, email: `${userId}@user.test`, kind: 'person', password_hash: null })
      .execute();
    const scopes = ['events:read', 'wallets:read'];
    tokens.push((await issueUserTokens(context, { clientId, userId, scopes })).access_token);
    users.push(userId);
  }
  const { partner_id: partnerId } = await context.db
    .selectFrom('oauth_clients')
    .select('partner_id')
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow();
  const app = await buildServer(context, eventRoutes);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  startSequencer(context);
  const before = process.memoryUsage().rss;
  const readers = await startTarget('./events-readers.ts', [url, String(count), ...tokens]);
  await sleep(1_000);
  const added = process.memoryUsage().rss - before;
  await appendSteadily(STREAMED_EVENTS, (n) =>
    appendEvents(context, context.db, [boundWallet(partnerId, users[n % users.length] ?? '')]),
  );
  const delays: number[] = [];
  for (let waited = 0; delays.length < STREAMED_EVENTS * 10 && waited < MAX_WAIT_MS; waited += 500) {
    await sleep(500);
    delays.push(...((await (await fetch(readers.target.url)).json()) as number[]));
  }
  await readers.stop();
  if (delays.length !== STREAMED_EVENTS * 10)
    throw new Error(`expected ${STREAMED_EVENTS * 10} arrivals, got ${delays.length}`);
  delays.sort((a, b) => a - b);
  return { streamsMb: added / 2 ** 20, arrivalP99Ms: delays[Math.floor(delays.length * 0.99)] ?? Infinity };
}
