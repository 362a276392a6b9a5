import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { maintainAttemptPartitions } from './delivery-log.ts';
import { listPartitions } from './delivery-log-store.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const names = async () => (await listPartitions(app.ctx.db)).map(({ name }) => name);
const insert = (at: string) =>
  sql`insert into webhook_attempts (id, delivery_id, kind, at, duration_ms)
    values (gen_random_uuid(), gen_random_uuid(), 'scheduled', ${at}, 1)`.execute(app.ctx.db);
const times = async () => {
  const { rows } = await sql<{ at: string }>`select at from webhook_attempts order by at`.execute(app.ctx.db);
  return rows.map(({ at }) => at.slice(0, 10));
};

test('every month gets a partition in time, and rows that came earlier move into it', async () => {
  await insert('2031-05-07T00:00:00Z');
  const may = Date.parse('2031-05-08T00:00:00Z');
  // Simulates several nodes that do this at once.
  await Promise.all([1, 2, 3].map(() => maintainAttemptPartitions(app.ctx, may)));
  expect(await names()).toEqual(
    expect.arrayContaining(['webhook_attempts_2031_05', 'webhook_attempts_2031_06']),
  );
  const { rows } = await sql`select from webhook_attempts_2031_05`.execute(app.ctx.db);
  expect(rows).toHaveLength(1);
  await insert('2031-06-30T23:59:59Z');
  expect(await sql`select from webhook_attempts_default`.execute(app.ctx.db)).toMatchObject({ rows: [] });
});

test('a month is dropped once its last day is past the retention, and not before', async () => {
  await maintainAttemptPartitions(app.ctx, Date.parse('2031-06-30T00:00:00Z'));
  expect(await times()).toEqual(['2031-05-07', '2031-06-30']);
  await maintainAttemptPartitions(app.ctx, Date.parse('2031-07-01T01:00:00Z'));
  expect(await times()).toEqual(['2031-06-30']);
  expect(await names()).not.toContain('webhook_attempts_2031_05');
});

test('a month without a partition gets one even if a later month has one', async () => {
  await maintainAttemptPartitions(app.ctx, Date.parse('2032-11-08T00:00:00Z'));
  await insert('2032-03-07T00:00:00Z');
  // An attempt in a month that never got a partition and whose retention has ended.
  await insert('2031-09-07T00:00:00Z');
  await maintainAttemptPartitions(app.ctx, Date.parse('2032-03-08T00:00:00Z'));
  expect(await names()).toEqual(
    expect.arrayContaining(['webhook_attempts_2032_03', 'webhook_attempts_2032_04']),
  );
  expect(await sql`select from webhook_attempts_default`.execute(app.ctx.db)).toMatchObject({ rows: [] });
});
