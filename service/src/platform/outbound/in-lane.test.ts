import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCallQueue, inLane } from './in-lane.ts';
import { MAX_CONNECTIONS, openUpstream, type Upstream } from './upstream.ts';

const seen: string[] = [];
const server = createServer(({ url }, response) => {
  seen.push(String(url));
  setTimeout(() => response.end('{}'), 1);
});
let upstream: Upstream;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  upstream = openUpstream({ name: 'venue', url, timeoutMs: 5_000 });
});
afterAll(async () => {
  await upstream.close();
  server.closeAllConnections();
  server.close();
});

test('two hundred waiting calls of one partner delay the call of another by one turn', async () => {
  const queue = createCallQueue('venue');
  const call = (lane: string) =>
    inLane(upstream, ['request'], queue, lane).request({ method: 'POST', path: `/${lane}` });
  const greedy = Array.from({ length: 200 }, () => call('greedy'));
  await call('other');
  expect(seen.indexOf('/other')).toBeLessThanOrEqual(2 * MAX_CONNECTIONS);
  await Promise.all(greedy);
  expect(seen).toHaveLength(201);
});

test('a failed call gives its place to the next', async () => {
  const queue = createCallQueue('venue');
  const calls = { fail: () => Promise.reject(new Error('no')) };
  const results = await Promise.allSettled(
    Array.from({ length: 3 * MAX_CONNECTIONS }, () => inLane(calls, ['fail'], queue, 'a').fail()),
  );
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  expect(queue.waiting()).toBe(0);
});
