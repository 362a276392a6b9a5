import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { partnerOf, USER } from '../../../test/support/tokens.ts';
import { setScopes } from '../../domain/partners/partner.ts';
import { SCOPES } from '../../kernel/access.ts';
import { createDeadlines } from '../limits/deadline.ts';
import { appendEvents } from './event.ts';
import { placeEvents } from './store.ts';
import { createEventStreams } from './streams.ts';

const PARTNER = partnerOf('partner-one');
const OTHER_USER = '01890000-0000-7000-8000-0000000000bb';
let app: TestApp;
let partner: string;

beforeAll(async () => {
  app = await testApp({ listen: true });
  partner = await app.tokenFor({ userId: null });
  await app.tokenFor({ userId: OTHER_USER });
  await app.tokenFor();
});
afterAll(() => app.close());

async function append(count: number, userId: string | null = USER, pad = ''): Promise<void> {
  const event = (n: number) => ({
    ...{ partnerId: PARTNER, userId, type: userId === null ? 'offer.published' : 'participation.pending' },
    data: { object: 'participation', id: `thing-${n}`, pad },
  });
  await appendEvents(
    app.ctx,
    app.ctx.db,
    Array.from({ length: count }, (_, n) => event(n)),
  );
  await placeEvents(app.ctx.db);
}

type Frame = { id?: string; event?: string; data?: string; comment?: string; retry?: string };

/** Opens a stream and parses its frames. */
async function open(token: string, { query = '', headers = {}, node = app } = {}) {
  const stop = new AbortController();
  const reply = await fetch(`${node.ctx.baseUrl}/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: stop.signal,
  });
  const frames: Frame[] = [];
  let isDone = false;
  const reading = (async () => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of reply.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) frames.push(toFrame(part));
    }
  })()
    .catch(() => undefined)
    .finally(() => {
      isDone = true;
    });
  const until = async (found: () => boolean, timeoutMs = 5_000): Promise<number> => {
    const since = performance.now();
    while (!found()) {
      if (performance.now() - since > timeoutMs)
        throw new Error(`timed out: ${JSON.stringify(frames.slice(-3)).slice(0, 300)}`);
      await sleep(5);
    }
    return performance.now() - since;
  };
  const events = () => frames.filter(({ id }) => id !== undefined).map(({ data }) => JSON.parse(data ?? ''));
  return {
    ...{ reply, frames, until, events },
    caughtUp: () => until(() => frames.some(({ event }) => event === 'caught_up')),
    ended: () => until(() => isDone),
    close: async () => {
      stop.abort();
      await reading;
    },
  };
}

function toFrame(text: string): Frame {
  const frame: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const [name = '', ...rest] = line.split(': ');
    frame[name === '' ? 'comment' : name] = rest.join(': ');
  }
  return frame;
}

async function listAll(token = partner) {
  const reply = await app.app.inject({
    url: '/v1/events?limit=100',
    headers: { authorization: `Bearer ${token}` },
  });
  return reply.json().data.toReversed() as { id: string }[];
}

describe('the event stream', () => {
  test('sends the frames and headers of the contract, and the same events as the list', async () => {
    await append(2);
    const stream = await open(partner);
    await stream.caughtUp();
    await append(3);
    await stream.until(() => stream.events().length === 3);
    expect(stream.reply.status).toBe(200);
    const headers = Object.fromEntries(stream.reply.headers);
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(headers['content-encoding']).toBeUndefined();
    expect(stream.frames[0]).toEqual({ retry: '2000' });
    expect(stream.frames[1]).toEqual({ event: 'caught_up', data: '{}' });
    expect(Object.keys(stream.frames[2] ?? {})).toEqual(['id', 'data']);
    expect(stream.events()).toEqual((await listAll()).slice(-3));
    await stream.close();
  });

  test('starts with the next new event, also if the last stream was closed long before', async () => {
    const node = await testApp({ listen: true, databaseUrl: String(app.ctx.pool.options.connectionString) });
    const earlier = await open(partner, { node });
    await earlier.caughtUp();
    await earlier.close();
    await sleep(100);
    await append(3);
    const stream = await open(partner, { node });
    await stream.caughtUp();
    expect(stream.frames[1]).toEqual({ event: 'caught_up', data: '{}' });
    await append(1);
    await stream.until(() => stream.events().length > 0);
    expect(stream.events()).toEqual((await listAll()).slice(-1));
    await stream.close();
    await node.close();
  });

  test('resumes after Last-Event-ID or after, says when it has caught up, and prefers the header', async () => {
    await append(5);
    const all = await listAll();
    const [first, , third] = all.slice(-5);
    for (const [options, expected] of [
      [{ query: `?after=${third?.id}` }, 2],
      [{ headers: { 'last-event-id': String(third?.id) } }, 2],
      [{ query: `?after=${first?.id}`, headers: { 'last-event-id': String(third?.id) } }, 2],
    ] as const) {
      const stream = await open(partner, options);
      await stream.caughtUp();
      expect(stream.events()).toEqual(all.slice(-expected));
      expect(stream.frames.at(-1)).toEqual({ event: 'caught_up', data: '{}' });
      await append(1);
      await stream.until(() => stream.events().length === expected + 1);
      await stream.close();
      all.push(...(await listAll()).slice(-1));
      all.splice(0, all.length, ...(await listAll()).slice(0, -1));
      await sql`delete from events where id = ${(await listAll()).at(-1)?.id}`.execute(app.ctx.db);
    }
    const unknown = await open(partner, { query: '?after=01890000-0000-7000-8000-00000000dead' });
    expect(unknown.reply.status).toBe(422);
  });

  test('sends users their own events only, and redacts those that the grant does not cover', async () => {
    const user = await app.tokenFor();
    const stream = await open(user);
    await stream.caughtUp();
    await append(1, OTHER_USER);
    await append(1, null);
    await append(1);
    await stream.until(() => stream.events().length === 1);
    await sleep(300);
    expect(stream.events().map(({ user_id }) => user_id)).toEqual([USER]);
    await stream.close();
    const all = await open(partner);
    await all.caughtUp();
    await sql`update oauth_grants set revoked_at = now() where user_id = ${OTHER_USER}`.execute(app.ctx.db);
    await append(1, OTHER_USER);
    await all.until(() => all.events().length === 1);
    expect(all.events()[0]).toMatchObject({ type: 'redacted', user_id: null, data: {} });
    await all.close();
  });

  test('ends when its token is revoked', async () => {
    const token = await app.tokenFor();
    const stream = await open(token);
    await stream.caughtUp();
    await app.app.inject({
      method: 'POST',
      url: '/oauth/revoke',
      payload: { token, client_id: 'partner-one', client_secret: await secret() },
    });
    await stream.ended();
    expect(stream.frames.at(-1)).toEqual({ event: 'end', data: '{"reason":"token_expired"}' });
  });

  test('ends when the partner loses events:read', async () => {
    const clientId = 'partner-five';
    const tokens = [await app.tokenFor({ clientId }), await app.tokenFor({ clientId, userId: null })];
    const streams = await Promise.all(tokens.map((token) => open(token)));
    for (const stream of streams) await stream.caughtUp();
    const others = Object.keys(SCOPES).filter((scope) => scope !== 'events:read');
    await setScopes(app.ctx, clientId, others);
    for (const stream of streams) {
      await stream.ended();
      expect(stream.frames.at(-1)).toEqual({ event: 'end', data: '{"reason":"token_expired"}' });
    }
  });

  test('allows 10 streams per caller at once', async () => {
    const token = await app.tokenFor({ clientId: 'partner-ten', userId: null });
    const streams = await Promise.all(Array.from({ length: 14 }, () => open(token)));
    const statuses = streams.map(({ reply }) => reply.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    await Promise.all(streams.map((stream) => stream.close()));
    const openAgain = async () => {
      const again = await open(token);
      await again.close();
      return again.reply.status;
    };
    await expect.poll(openAgain, { timeout: 10_000, interval: 20 }).toBe(200);
  });

  test('counts no stream whose request timed out before it opened', async () => {
    const token = await app.tokenFor({ clientId: 'partner-late', userId: null });
    const { deadlines, db } = app.ctx;
    const short = createDeadlines(100, 10);
    Object.assign(app.ctx, { deadlines: short });
    // Until the transaction ends, no stream can find out where to start.
    await db.transaction().execute(async (tx) => {
      await sql`lock table events`.execute(tx);
      const streams = await Promise.all(Array.from({ length: 10 }, () => open(token)));
      expect(streams.map(({ reply }) => reply.status)).toEqual(Array(10).fill(503));
    });
    short.stop();
    Object.assign(app.ctx, { deadlines });
    const openAgain = async () => {
      const again = await open(token);
      await again.close();
      return again.reply.status;
    };
    await expect.poll(openAgain, { timeout: 5_000, interval: 50 }).toBe(200);
  });

  test('ends for a reader that lets 1 MiB wait, and the reader loses nothing by resuming', async () => {
    const reply = await fetch(`${app.ctx.baseUrl}/v1/events/stream`, {
      headers: { authorization: `Bearer ${partner}` },
    });
    await sleep(300);
    for (let i = 0; i < 16; i++) await append(20, null, 'x'.repeat(50_000));
    await sleep(1_000);
    let text = '';
    for await (const chunk of reply.body ?? []) text += Buffer.from(chunk as Uint8Array).toString();
    expect(text.endsWith('event: end\ndata: {"reason":"slow_reader"}\n\n')).toBe(true);
    const last = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1];
    const resumed = await open(partner, { query: `?after=${last}` });
    await resumed.caughtUp();
    const total = [...text.matchAll(/^id: /gm)].length + resumed.events().length;
    expect(total).toBe(320);
    await resumed.close();
  }, 30_000);

  test('ends with shutting_down when the node stops, which does not wait for its streams', async () => {
    const node = await testApp({ listen: true });
    const stream = await open(await node.tokenFor({ userId: null }), { node });
    await stream.caughtUp();
    await node.close();
    await stream.ended();
    expect(stream.frames.at(-1)).toEqual({ event: 'end', data: '{"reason":"shutting_down"}' });
  });

  test('says that it ends when past events cannot be read', async () => {
    const rename = (from: string, to: string) =>
      sql.raw(`alter function ${from}(uuid, uuid, text) rename to ${to}`).execute(app.ctx.db);
    await rename('event_visible', 'event_hidden');
    try {
      const stream = await open(partner);
      await stream.ended();
      expect(stream.frames.at(-1)).toEqual({ event: 'end', data: '{"reason":"unavailable"}' });
    } finally {
      await rename('event_hidden', 'event_visible');
    }
  });

  test('checks at most 8 tokens at once however many streams there are, each once at a time', async () => {
    const verified = await app.ctx.guard.inspect(partner);
    if (!verified) throw new Error('the token is not valid');
    const running: string[] = [];
    let most = 0;
    const hold = new AbortController();
    const inspect = async (token: string) => {
      expect(running).not.toContain(token);
      running.push(token);
      most = Math.max(most, running.length);
      await sleep(60_000, undefined, { signal: hold.signal }).catch(() => undefined);
      running.splice(running.indexOf(token), 1);
      return verified;
    };
    const streams = await createEventStreams({ ...app.ctx, guard: { inspect } });
    for (let n = 0; n < 20; n++)
      (
        await streams.open({ ...verified.caller, key: `caller ${n}` }, `token ${n}`, async () => null)
      ).resume();
    await expect.poll(() => most, { interval: 20 }).toBeGreaterThan(0);
    await sleep(700);
    expect(most).toBe(8);
    hold.abort();
    streams.close();
  });

  test('opens no stream for HEAD and logs one line per stream', async () => {
    const headers = { authorization: `Bearer ${partner}` };
    const reply = await app.app.inject({ method: 'HEAD', url: '/v1/events/stream', headers });
    expect(reply.statusCode).toBe(404);
    const opened = app.logged().match(/"route":"\/v1\/events\/stream","status":200/g)?.length ?? 0;
    const stream = await open(partner);
    await stream.caughtUp();
    await stream.close();
    expect(app.logged().match(/"route":"\/v1\/events\/stream","status":200/g)).toHaveLength(opened + 1);
  });
});

async function secret(): Promise<string> {
  const { makeClient } = await import('../../../test/support/tokens.ts');
  return (await makeClient(app.ctx)).secret;
}
