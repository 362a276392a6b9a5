import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appendEvents } from '../src/platform/events/event.ts';
import { placeEvents } from '../src/platform/events/store.ts';
import { freePort } from '../src/platform/http/listening.ts';
import { PROXIES, startProxy } from './rolling/proxies.ts';
import { type TestApp, testApp } from './support/app.ts';
import { bundleNode, killNode, type NodeProgram, startEventNode } from './support/forked-node.ts';
import { partnerOf } from './support/tokens.ts';
import { callAs } from './support/webhooks.ts';

/** Set `STREAM_KILLS=200` for the full test. */
const KILLS = Number(process.env.STREAM_KILLS ?? 4);
const EVENTS_PER_KILL = 40;
const KILL_TIMEOUT_MS = 60_000 + KILLS * 10_000;
const RECONNECTS = 1_000;
const PARTNER = partnerOf('partner-one');

let app: TestApp;
let token: string;
let idle: IncomingMessage;
let received = '';
beforeAll(async () => {
  app = await testApp({ listen: true });
  token = await app.tokenFor({ userId: null });
  idle = await openStream(app.ctx.baseUrl);
  idle.on('data', (chunk) => {
    received += String(chunk);
  });
});
afterAll(() => app.close());

const until = (check: () => unknown, timeout = 20_000) => expect.poll(check, { timeout, interval: 5 });

async function append(count: number): Promise<string[]> {
  const event = (n: number) => ({
    ...{ partnerId: PARTNER, userId: null, type: 'offer.published' },
    data: { object: 'offer', id: `offer ${n}` },
  });
  return appendEvents(
    app.ctx,
    app.ctx.db,
    Array.from({ length: count }, (_, n) => event(n)),
  );
}

/** Opens a stream on its own connection. */
function openStream(url: string, after?: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}`, ...(after && { 'last-event-id': after }) };
  return new Promise((resolve, reject) => {
    get(`${url}/v1/events/stream`, { headers, agent: false }, resolve).on('error', reject);
  });
}

/** Adds the ids of the events to `ids` until the stream ends or breaks. */
async function collect(stream: IncomingMessage, ids: string[]): Promise<void> {
  let text = '';
  try {
    for await (const chunk of stream) {
      text += String(chunk);
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) {
        const id = /^id: (.*)$/m.exec(frame)?.[1];
        if (id !== undefined) ids.push(id);
      }
    }
  } catch {}
}

test.skipIf(!existsSync(PROXIES.nginx.command))(
  'passes nginx with its default buffering event by event',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-nginx-'));
    const port = Number(new URL(app.ctx.baseUrl).port);
    const proxy = await startProxy('nginx', folder, await freePort(), [port]);
    try {
      const stream = await openStream(proxy.url);
      expect([stream.statusCode, stream.headers['content-type']]).toEqual([
        200,
        'text/event-stream; charset=utf-8',
      ]);
      const ids: string[] = [];
      const reading = collect(stream, ids);
      const sent: string[] = [];
      for (let n = 0; n < 5; n++) {
        sent.push(...(await append(1)));
        await placeEvents(app.ctx.db);
        // Without the `X-Accel-Buffering` header, this check would fail: nginx uses HTTP/1.0 by default, and then holds
        // back events this small until it has 4 KiB. With HTTP/1.1, it forwards every chunk of a chunked reply at once.
        await until(() => ids).toEqual(sent);
      }
      stream.destroy();
      await reading;
    } finally {
      await proxy.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test(
  'a reader whose node is killed again and again resumes, and sees the events of the list in their order',
  async () => {
    const program: NodeProgram = await bundleNode('event-node');
    const serve = { port: await freePort(), now: app.clock.now() };
    const startNode = () => startEventNode(program, String(app.ctx.pool.options.connectionString), { serve });
    const call = await callAs(app);
    const [first = ''] = await append(1);
    await placeEvents(app.ctx.db);
    const seen = [first];
    const stop = new AbortController();
    let opened: IncomingMessage | undefined;
    const follow = async () => {
      while (!stop.signal.aborted) {
        opened = await openStream(`http://127.0.0.1:${serve.port}`, seen.at(-1)).catch(() => undefined);
        if (opened?.statusCode === 200) await collect(opened, seen);
        else await sleep(5);
      }
    };
    const following = follow();
    let node: ChildProcess | undefined;
    let total = 1;
    try {
      for (let kill = 1; kill <= KILLS; kill++) {
        node = await startNode();
        const before = seen.length;
        for (let n = 0; n < EVENTS_PER_KILL; n += 10) await append(10);
        // Kills the node at a different moment each time, while it sequences events or sends them.
        await until(() => seen.length).toBeGreaterThanOrEqual(before + ((kill * 13) % EVENTS_PER_KILL));
        await killNode(node);
        // No node gives these events a position until the next node starts.
        await append(5);
        total += EVENTS_PER_KILL + 5;
      }
      node = await startNode();
      await until(() => seen.length, KILL_TIMEOUT_MS).toBeGreaterThanOrEqual(total);
    } finally {
      stop.abort();
      if (node !== undefined) await killNode(node);
      await following;
      await program.remove();
    }
    const listed: { id: string; sequence: number }[] = [];
    for (let page = [{ id: first, sequence: 0 }]; page.length > 0; ) {
      page = (await call('GET', `/v1/events?limit=100&after=${page.at(-1)?.id}`)).json.data;
      listed.push(...page);
    }
    expect(seen.slice(1)).toEqual(listed.map(({ id }) => id));
    expect(listed).toHaveLength(total - 1);
  },
  KILL_TIMEOUT_MS,
);

test('reconnecting leaves no stream, timer or database connection behind', async () => {
  const reconnect = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const stream = await openStream(app.ctx.baseUrl);
      expect(stream.statusCode).toBe(200);
      await new Promise((resolve) => stream.once('data', resolve));
      stream.destroy();
    }
  };
  const reconnectAll = (count: number) => Promise.all(Array.from({ length: 5 }, () => reconnect(count / 5)));
  const measure = async () => {
    const { rows } = await sql<{ n: bigint }>`select count(*) as n from pg_stat_activity
      where datname = current_database()`.execute(app.ctx.db);
    const resources = process.getActiveResourcesInfo();
    return {
      connections: Number(rows[0]?.n),
      streams: queryObjects(Readable) as unknown as number,
      sockets: resources.filter((name) => name === 'TCPSocketWrap').length,
      timers: resources.filter((name) => name === 'Timeout').length,
    };
  };
  await reconnectAll(50);
  const before = await measure();
  await reconnectAll(RECONNECTS);
  // Opens the nine streams that are still allowed in addition to the idle one. They all succeed only if earlier streams
  // no longer count.
  const openAll = async () => {
    const last = await Promise.all(Array.from({ length: 9 }, () => openStream(app.ctx.baseUrl)));
    for (const stream of last) stream.destroy();
    return last.filter(({ statusCode }) => statusCode === 200).length;
  };
  await until(openAll).toBe(9);
  const slack = 20;
  const leaks = async () => {
    const after = await measure();
    return Object.entries(before).filter(
      ([name, count]) => after[name as keyof typeof after] > count + slack,
    );
  };
  await expect.poll(leaks, { timeout: 20_000, interval: 200 }).toEqual([]);
}, 60_000);

test('an idle stream beats', async () => {
  await until(() => received, 30_000).toContain(': heartbeat\n\n');
  idle.destroy();
}, 40_000);
