import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLog } from '../../kernel/log.ts';
import { createAlertGauges, createAlerts } from './alerts.ts';

const CHAIN = 'base_sepolia';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

function setUp() {
  const registry = new Registry();
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line).msg) };
  const log = createLog({ level: 'info', pretty: false, stream });
  const alerts = createAlerts(createAlertGauges(registry), log, { chain: CHAIN, address: '0x1' });
  return {
    raise: alerts.raise,
    /** Ends a round. Returns what the round logged. */
    report: async () => {
      await alerts.report(async () => 3);
      return lines.splice(0);
    },
    waiting: async () => Number(/reason="reverts"\} (\d+)/.exec(await registry.metrics())?.[1] ?? Number.NaN),
  };
}

test('a new message is logged although its reason is already raised, and an old one is not repeated', async () => {
  const { raise, report } = setUp();
  raise('reverts', 'fund A');
  expect(await report()).toEqual(['settlement blocked: fund A']);
  raise('reverts', 'fund A');
  raise('reverts', 'fund B');
  expect(await report()).toEqual(['settlement blocked: fund B']);
  raise('reverts', 'fund A');
  expect(await report()).toEqual([]);
  expect(await report()).toEqual(['settlement unblocked']);
});

test('many messages do not flood the log, and are logged again after an hour', async () => {
  const { raise, report } = setUp();
  let count = 0;
  for (let i = 0; i < 100; i++) {
    raise('reverts', `fund 0x${'f'.repeat(i)}`);
    count += (await report()).length;
  }
  expect(count).toBe(20);
  vi.advanceTimersByTime(3_600_000);
  raise('reverts', 'fund 0xff');
  expect(await report()).toEqual(['settlement blocked: fund 0xff']);
});

test('a message whose numbers change is logged once, and leaves room for others', async () => {
  const { raise, report } = setUp();
  const lines: string[] = [];
  for (let height = 100; height < 150; height++) {
    for (let row = 0; row < 30; row++)
      raise('role_missing', `0x1f waits for block ${height} with row ${row}`);
    if (height > 120) raise('role_missing', '0x2f waits for block 7');
    lines.push(...(await report()));
  }
  expect(lines).toEqual([
    'settlement blocked: 0x1f waits for block 100 with row 0',
    'settlement blocked: 0x2f waits for block 7',
  ]);
});

test('another HTTP status is another message', async () => {
  const { raise, report } = setUp();
  raise('unreachable', 'rpc:base_sepolia: HTTP 503');
  expect(await report()).toEqual(['settlement blocked: rpc:base_sepolia: HTTP 503']);
  raise('unreachable', 'rpc:base_sepolia: HTTP 429');
  expect(await report()).toEqual(['settlement blocked: rpc:base_sepolia: HTTP 429']);
});

test('an alert that is raised again for a shorter time keeps its time', async () => {
  const { raise, report, waiting } = setUp();
  raise('reverts', 'a commit', 65);
  raise('reverts', 'a revocation', 35);
  raise('reverts', 'a released commit');
  await report();
  vi.advanceTimersByTime(60_000);
  expect(await report()).toEqual([]);
  expect(await waiting()).toBe(3);
  vi.advanceTimersByTime(5_000);
  await report();
  expect(await report()).toEqual(['settlement unblocked']);
  expect(await waiting()).toBe(0);
});
