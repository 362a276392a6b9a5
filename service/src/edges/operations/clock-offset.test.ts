import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { registerServiceMetrics } from './service-metrics.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  registerServiceMetrics(app.ctx);
});
afterAll(() => app.close());
afterEach(() => void vi.useRealTimers());

/** Moves this node's clock away from the database's clock. */
const moveClock = (seconds: number) =>
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });

const readOffset = async () => {
  const text = await app.ctx.metrics.registry.metrics();
  return Number(/^causeway_database_clock_offset_seconds (.+)$/m.exec(text)?.[1]);
};

test('readiness and a metric report a database clock that differs from the clock of the node', async () => {
  expect((await app.app.inject({ url: '/health/ready' })).json()).toMatchObject({
    status: 'ok',
    parts: { clock: 'ok' },
  });
  expect(Math.abs(await readOffset())).toBeLessThan(5);
  for (const offset of [7200, -7200]) {
    moveClock(-offset);
    await expect
      .poll(async () => (await app.app.inject({ url: '/health/ready' })).json(), { timeout: 5_000 })
      .toMatchObject({ status: 'degraded', parts: { database: 'ok', clock: 'unavailable' } });
    expect(Math.abs((await readOffset()) - offset)).toBeLessThan(5);
    vi.useRealTimers();
  }
});
