import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTracer } from '../src/kernel/tracer.ts';
import { openTraceExporter } from '../src/platform/outbound/trace-exporter.ts';
import { MARKET_OPEN, startTokenizedWorld, type TokenizedWorld } from './support/venue.ts';

type OtlpSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: string } }[];
};

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';

const bodies: string[] = [];
const headers: string[] = [];
/** The responses that the collector holds back; null = it answers immediately. */
let hanging: ServerResponse[] | null = null;
/** Accepts OTLP over HTTP. */
const collector = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  headers.push(`${request.url} ${request.headers['api-key']}`);
  bodies.push(Buffer.concat(chunks).toString());
  if (hanging === null) answer(response);
  else hanging.push(response);
});
const answer = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
let world: TokenizedWorld;
beforeAll(async () => {
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  world = await startTokenizedWorld({ traces: { url, headers: { 'api-key': 'collector-key' }, ratio: 1 } });
  world.venue.state.session = 'regular';
  world.app.clock.set(MARKET_OPEN);
});
afterAll(async () => {
  await world.close();
  collector.close();
});

const spans = (): OtlpSpan[] =>
  bodies.flatMap((body) => JSON.parse(body).resourceSpans.flatMap((each: never) => spansOf(each)));
const spansOf = ({ scopeSpans }: { scopeSpans: { spans: OtlpSpan[] }[] }) =>
  scopeSpans.flatMap((each) => each.spans);
const attribute = ({ attributes }: OtlpSpan, key: string) => {
  const value = attributes.find((each) => each.key === key)?.value;
  return value?.stringValue ?? value?.intValue;
};

test('a request becomes a trace with its SQL, RPC and provider calls, and nothing personal or secret', async () => {
  const order = {
    ...{ amount: '1005000000', chain: 'ethereum_sepolia', symbol: 'AAPLon' },
    wallet_address: world.wallet.address as Hex,
  };
  const { status } = await world.user.call('POST', '/v1/tokenized/swap/transaction', order, {
    traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`,
    'idempotency-key': 'traced-order-key',
  });
  expect(status).toBe(200);
  const isRoot = ({ parentSpanId }: OtlpSpan) => parentSpanId === PARENT_ID;
  await expect.poll(() => spans().find(isRoot), { timeout: 10_000 }).toBeDefined();
  const root = spans().find(isRoot) as OtlpSpan;
  expect(root).toMatchObject({ traceId: TRACE_ID, name: 'POST /v1/tokenized/swap/transaction', kind: 2 });
  expect(attribute(root, 'http.response.status_code')).toBe('200');
  expect(attribute(root, 'http.route')).toBe('/v1/tokenized/swap/transaction');

  const children = spans().filter(({ parentSpanId }) => parentSpanId === root.spanId);
  expect(children.every(({ traceId }) => traceId === TRACE_ID)).toBe(true);
  for (const { startTimeUnixNano, endTimeUnixNano } of children)
    expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
  const having = (key: string) => children.map((span) => attribute(span, key)).filter((value) => value);
  expect(having('db.collection.name')).toContain('tokenized_orders');
  expect(having('rpc.method').join(' ')).toContain('eth_call');
  expect(having('causeway.provider')).toContain('venue');
  expect(headers[0]).toBe('/v1/traces collector-key');

  const { ctx } = world.app;
  const sent = bodies.join('').toLowerCase();
  const { rows } = await ctx.pool.query('select id, email from users');
  const secrets = [
    ...rows.flatMap(({ id, email }) => [id, email]),
    ...[
      world.wallet.address,
      'traced-order-key',
      world.venue.apiKey,
      'collector-key',
      'bearer',
      '$1',
      'where',
    ],
  ];
  for (const secret of secrets) expect(sent).not.toContain(String(secret).toLowerCase());
});

test('requests that oidc-provider answers are traced too', async () => {
  await world.app.app.inject('/oauth/jwks');
  await expect.poll(() => spans().map(({ name }) => name), { timeout: 10_000 }).toContain('GET /oauth/jwks');
});

test('the share of traced requests is the configured one, whatever a caller asks for', async () => {
  const { random } = world.app.ctx;
  const count = (ratio: number) => {
    const tracer = createTracer({ ratio, random }, () => undefined);
    const started = Array.from({ length: 20_000 }, () =>
      tracer.start('GET /', `00-${TRACE_ID}-${PARENT_ID}-01`),
    );
    return started.filter((span) => span !== null).length;
  };
  expect([count(0), count(1)]).toEqual([0, 20_000]);
  expect(count(0.01)).toBeGreaterThan(100);
  expect(count(0.01)).toBeLessThan(300);
});

test('while the collector hangs, requests are answered and their spans wait', async () => {
  hanging = [];
  const open = hanging;
  await world.app.app.inject('/oauth/jwks');
  await expect.poll(() => open.length, { timeout: 10_000 }).toBe(1);
  const [count, traceId] = [bodies.length, 'b'.repeat(32)];
  const { status } = await world.user.call('GET', '/v1/offers', undefined, {
    traceparent: `00-${traceId}-${PARENT_ID}-01`,
  });
  expect([status, bodies.length]).toEqual([200, count]);
  hanging = null;
  open.forEach(answer);
  await expect.poll(() => spans().map((span) => span.traceId), { timeout: 10_000 }).toContain(traceId);
});

test('shutdown does not wait for a collector that hangs, and sends it nothing more', async () => {
  hanging = [];
  const open = hanging;
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const { log } = world.app.ctx;
  const exporter = openTraceExporter({ url, headers: {}, ratio: 1 }, log, new Registry());
  const span = {
    ...{ traceId: TRACE_ID, id: PARENT_ID, parentId: null, kind: 'server' as const, name: 'GET /hanging' },
    ...{ attributes: {}, startedAt: 0, endedAt: 1, isFailed: false },
  };
  const received = () => bodies.filter((body) => body.includes('GET /hanging')).length;
  exporter.add(span);
  await expect.poll(received, { timeout: 10_000 }).toBe(1);
  exporter.add(span);
  await exporter.close();
  expect(received()).toBe(1);
  hanging = null;
  open.forEach(answer);
});
