import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../test/support/app.ts';
import { deleteInBatches } from '../platform/db/delete-in-batches.ts';
import { runHousekeeping, startHousekeeping } from './housekeeping.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

describe('housekeeping', () => {
  test('a failing step is logged by name and does not stop the later ones', async () => {
    const ran: string[] = [];
    await runHousekeeping(app.ctx, {
      first: async () => void ran.push('first'),
      broken: async () => {
        throw new Error('out of disk');
      },
      last: async () => void ran.push('last'),
    });
    expect(ran).toEqual(['first', 'last']);
    const line = app
      .logged()
      .split('\n')
      .find((text) => text.includes('housekeeping step failed'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ step: 'broken', err: { message: 'out of disk' } });
  });

  test('a step that has not run yet reports the start of the node, so that the alert notices it', async () => {
    const startedAt = app.ctx.clock.now() / 1000;
    await startHousekeeping(app.ctx)();
    const name = 'causeway_housekeeping_last_run_timestamp_seconds';
    const { values = [] } = (await app.ctx.metrics.registry.getSingleMetric(name)?.get()) ?? {};
    expect(values.map(({ labels }) => labels.step)).toContain('audit log');
    for (const { value } of values) expect(value).toBeGreaterThanOrEqual(startedAt);
  });

  test('every step succeeds on an empty database', async () => {
    await runHousekeeping(app.ctx);
    expect(app.logged().match(/housekeeping step failed/g)).toHaveLength(1);
  });

  test('the retention page lists every table', async () => {
    const { rows } = await sql<{ name: string }>`select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`.execute(
      app.ctx.db,
    );
    const page = readFileSync(new URL('../../../docs/operate/retention.md', import.meta.url), 'utf8');
    const listed = [...page.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name);
    expect([...new Set(listed)].sort()).toEqual(rows.map(({ name }) => name).sort());
  });

  test('deletes every expired row of a table with more rows than a batch, and no other', async () => {
    const { db } = app.ctx;
    await sql`insert into rate_limits (key, count, window_end)
      select 'expired ' || i, 1, now() - interval '1 second' from generate_series(1, 12000) i`.execute(db);
    await sql`insert into rate_limits values ('current', 1, now() + interval '1 hour')`.execute(db);
    await runHousekeeping(app.ctx);
    expect((await sql`select key from rate_limits`.execute(db)).rows).toEqual([{ key: 'current' }]);
  });
});

test('unused grants are found among more used ones than a page holds', async () => {
  const { db } = app.ctx;
  await app.tokenFor({});
  await sql`insert into oauth_grants (id, client_id, user_id, payload, expires_at, inserted_at)
    select md5(i::text), 'partner-one', gen_random_uuid(), '{}', now() + interval '1 day', now() - interval '16 days'
    from generate_series(1, 5000) i on conflict do nothing`.execute(db);
  await sql`insert into oauth_artifacts (kind, hash, grant_id, payload, expires_at)
    select 'RefreshToken', sha256(id::bytea), id, '{}', now() + interval '1 day' from oauth_grants
    where inserted_at < now() - interval '1 day' and id > '2' on conflict do nothing`.execute(db);
  const { rows: before } = await sql`select from oauth_grants where id <= '2'
    and inserted_at < now() - interval '1 day'`.execute(db);
  expect(before.length).toBeGreaterThan(100);
  await runHousekeeping(app.ctx);
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from oauth_grants g
    where not exists (select from oauth_artifacts a where a.grant_id = g.id)`.execute(db);
  expect(rows).toEqual([{ n: 0 }]);
  const { rows: kept } =
    await sql`select from oauth_grants where inserted_at < now() - interval '1 day'`.execute(db);
  expect(kept).toHaveLength(5000 - before.length);
});

describe('deleteInBatches', () => {
  test('returns the number of deleted rows, also when two nodes delete at once', async () => {
    const { db } = app.ctx;
    await sql`insert into rate_limits (key, count, window_end)
      select 'old ' || i, 1, now() from generate_series(1, 1000) i`.execute(db);
    const condition = sql`key like 'old %'`;
    const deleted = await Promise.all([
      deleteInBatches(db, 'rate_limits', condition, 70),
      deleteInBatches(db, 'rate_limits', condition, 70),
    ]);
    expect(deleted[0] + deleted[1]).toBe(1000);
    const { rows } = await sql`select from rate_limits where ${condition}`.execute(db);
    expect(rows).toEqual([]);
  });
});
