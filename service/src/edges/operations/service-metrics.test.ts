import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp, testConfig } from '../../../test/support/app.ts';
import { partnerOf } from '../../../test/support/tokens.ts';
import { appendEvents } from '../../platform/events/event.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { registerServiceMetrics } from './service-metrics.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({
    config: { limits: { ...testConfig().limits, api: 2 }, webhookAllowCidrs: ['127.0.0.0/8'] },
  });
  registerServiceMetrics(app.ctx);
});
afterAll(() => app.close());

/** Returns the samples of one metric, keyed by their labels. */
async function samplesOf(name: string): Promise<Record<string, number>> {
  const lines = (await app.ctx.metrics.registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith(name));
  return Object.fromEntries(
    lines.map((line) => [/\{(.*)\}/.exec(line)?.[1] ?? '', Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

test('reports the version and a fingerprint of the secret, never the secret', async () => {
  const [labels = ''] = Object.keys(await samplesOf('causeway_build_info'));
  expect(labels).toMatch(/version="\d+\.\d+\.\d+".*secret_fingerprint="[0-9a-f]{12}"/);
  const [secret] = app.ctx.config.secrets;
  expect(secret?.toString('hex')).not.toContain(/secret_fingerprint="(\w+)"/.exec(labels)?.[1]);
});

test('counts token checks from the cache and from the database, and requests over a limit', async () => {
  const authorization = `Bearer ${await app.tokenFor({})}`;
  for (let i = 0; i < 3; i++) await app.app.inject({ url: '/v1/offers', headers: { authorization } });
  expect(await samplesOf('causeway_token_cache_requests_total')).toEqual({
    'outcome="hit"': 2,
    'outcome="miss"': 1,
  });
  expect(await samplesOf('causeway_rate_limited_total')).toEqual({ 'limit="api"': 1 });
});

test('reports connections and the listener', async () => {
  const connections = await samplesOf('causeway_database_connections');
  expect(connections['state="max"']).toBe(app.ctx.config.databasePool);
  expect(connections['state="used"']).toBeGreaterThanOrEqual(0);
  expect(await samplesOf('causeway_database_waiting')).toEqual({ '': 0 });
  expect(await samplesOf('causeway_database_listener_connected')).toEqual({ '': 1 });
});

test('measures the queues', async () => {
  await sendMail(app.ctx, app.ctx.db, { to: 'ada@user.test', subject: 'x', text: 'x' });
  await app.ctx.pool.query(`update mail_outbox set inserted_at = now() - interval '90 seconds'`);
  const queues = ['documents', 'identity', 'mail', 'notices', 'webhooks'];
  const lengths = await samplesOf('causeway_queue_length');
  expect(lengths).toEqual(
    Object.fromEntries(queues.map((queue) => [`queue="${queue}"`, queue === 'mail' ? 1 : 0])),
  );
  expect((await samplesOf('causeway_queue_oldest_seconds'))['queue="mail"']).toBeGreaterThanOrEqual(90);
});

test('counts events by type, and reads from caches', async () => {
  const offer = { object: 'offer', id: 'x' };
  const event = { partnerId: partnerOf('partner-one'), userId: null, type: 'offer.published', data: offer };
  await app.ctx.db.transaction().execute((tx) => appendEvents(app.ctx, tx, [event, event]));
  expect(await samplesOf('causeway_events_total')).toEqual({ 'type="offer.published"': 2 });
  await app.ctx.venue.marketState().catch(() => undefined);
  expect(await samplesOf('causeway_read_cache_requests_total')).toMatchObject({
    ...{ 'cache="venue",outcome="hit"': 0, 'cache="venue",outcome="miss"': 1 },
  });
});

test('counts webhook attempts by outcome', async () => {
  await app.ctx.webhooks.send('http://127.0.0.1:9/', {}, '{}');
  const outcomes = await samplesOf('causeway_webhook_attempts_total');
  expect(Object.values(outcomes)).toEqual([1]);
});
