import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWebhookWorker } from '../src/domain/webhooks/worker.ts';
import { appendEvents } from '../src/platform/events/event.ts';
import { startSequencer } from '../src/platform/events/sequencer.ts';
import { type TestApp, testApp } from './support/app.ts';
import { partnerOf } from './support/tokens.ts';
import { callAs, type Receiver, startReceiver } from './support/webhooks.ts';

/** Set `EVENT_PROOF=100000` for the full test. */
const EVENTS = Number(process.env.EVENT_PROOF ?? 600);
const WRITERS = 8;
const PARTNER = partnerOf('partner-one');
const TIMEOUT_MS = 60_000 + EVENTS * 60;

let app: TestApp;
let receiver: Receiver;
const stops: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  app = await testApp({ listen: true, config: { webhookAllowCidrs: ['127.0.0.0/8'] } });
  receiver = await startReceiver();
  // Two nodes share the work.
  const second = await testApp({
    databaseUrl: String(app.ctx.pool.options.connectionString),
    config: { webhookAllowCidrs: ['127.0.0.0/8'] },
  });
  for (const { ctx } of [app, second]) stops.push((await startWebhookWorker(ctx)).stop, startSequencer(ctx));
  stops.push(second.close);
});
afterAll(async () => {
  for (const stop of stops) await stop();
  await receiver.close();
  await app.close();
});

/** Writes events that are all about this writer's own offer. Commits some transactions late, and rolls some back. */
async function write(writer: number, count: number): Promise<number> {
  let committed = 0;
  for (let n = 0; n < count; n++) {
    const isCommitted = (n * 7919 + writer) % 6 !== 0;
    const event = {
      ...{ partnerId: PARTNER, userId: null, type: 'offer.published' },
      data: { object: 'offer', id: `offer ${writer}`, n },
    };
    await app.ctx.db
      .transaction()
      .execute(async (tx) => {
        await appendEvents(app.ctx, tx, [event]);
        if (n % 5 === 0) await sleep((n * 31 + writer) % 7);
        if (!isCommitted) throw new Error('rolled back');
      })
      .then(
        () => void committed++,
        () => undefined,
      );
  }
  return committed;
}

/** Reads the stream from the start, like a client that sometimes loses its connection and then resumes. */
async function follow(token: string, ids: string[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const broken = new AbortController();
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    const last = ids.at(-1);
    if (last !== undefined) headers['last-event-id'] = last;
    try {
      const reply = await fetch(`${app.ctx.baseUrl}/v1/events/stream`, {
        headers,
        signal: AbortSignal.any([signal, broken.signal]),
      });
      let text = '';
      let seen = 0;
      for await (const chunk of reply.body ?? []) {
        text += Buffer.from(chunk as Uint8Array).toString();
        const frames = text.split('\n\n');
        text = frames.pop() ?? '';
        for (const frame of frames) {
          const id = /^id: (.*)$/m.exec(frame)?.[1];
          if (id !== undefined) ids.push(id);
          if (id !== undefined && ++seen % 97 === 0) broken.abort();
        }
      }
    } catch {}
  }
}

test(
  'list, stream and webhooks deliver identical sequences while writers commit late and roll back',
  async () => {
    const call = await callAs(app);
    const token = await app.tokenFor({ userId: null });
    // Creates a first event, because the stream can resume only after an event.
    await write(0, 2);
    await expect.poll(async () => (await call('GET', '/v1/events')).json.data.length).toBe(1);
    const [first] = (await call('GET', '/v1/events')).json.data;
    await call('POST', '/v1/webhook-endpoints', { url: receiver.url, types: ['*'] });
    const streamed = [first.id];
    const stop = new AbortController();
    const following = follow(token, streamed, stop.signal);

    const share = Math.ceil(EVENTS / WRITERS);
    const counts = await Promise.all(
      Array.from({ length: WRITERS }, (_, writer) => write(writer + 1, share)),
    );
    const committed = counts.reduce((sum, count) => sum + count, 0);
    // The test server has autovacuum off, so nothing else would replace the query plans that were made for empty
    // tables.
    await sql`analyze`.execute(app.ctx.db);

    const listed: { id: string; sequence: number; data: { id: string; n: number } }[] = [];
    for (let after = first.id; listed.length < committed; after = listed.at(-1)?.id ?? after) {
      const { json } = await call('GET', `/v1/events?limit=100&after=${after}`);
      listed.push(...json.data);
      if (json.data.length === 0) await sleep(20);
    }
    const ids = listed.map(({ id }) => id);
    expect(new Set(ids).size).toBe(committed);
    expect(listed.map(({ sequence }) => sequence)).toEqual(listed.map((_, n) => n + 2));
    await expect.poll(() => streamed.length, { timeout: TIMEOUT_MS, interval: 50 }).toBe(committed + 1);
    expect(streamed.slice(1)).toEqual(ids);
    stop.abort();
    await following;

    const received = () => receiver.received.map(({ body }) => JSON.parse(body));
    await expect
      .poll(() => receiver.received.length, { timeout: TIMEOUT_MS, interval: 50 })
      .toBeGreaterThanOrEqual(committed);
    // Checks that the order is right per subject, and that no event arrived twice.
    expect(receiver.received).toHaveLength(committed);
    for (let writer = 1; writer <= WRITERS; writer++) {
      const about = (event: { data: { id: string } }) => event.data.id === `offer ${writer}`;
      expect(received().filter(about)).toEqual(listed.filter(about));
    }
    const inOrder = received().toSorted((a, b) => a.sequence - b.sequence);
    expect(inOrder.map(({ id }) => id)).toEqual(ids);
  },
  TIMEOUT_MS * 3,
);

test('a stream continues after its node loses the notifications', async () => {
  const token = await app.tokenFor({ userId: null });
  const ids: string[] = [];
  const stop = new AbortController();
  const call = await callAs(app);
  ids.push((await call('GET', '/v1/events?limit=1')).json.data[0].id);
  const following = follow(token, ids, stop.signal);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ilike 'listen%'`.execute(app.ctx.db);
  const committed = await write(20, 30);
  await expect.poll(() => ids.length, { timeout: 10_000, interval: 20 }).toBe(committed + 1);
  stop.abort();
  await following;
});
