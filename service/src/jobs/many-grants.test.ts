import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../test/support/app.ts';
import { runHousekeeping } from './housekeeping.ts';

/** `GRANTS=5000000` runs the full proof, which takes minutes. */
const GRANTS = Number(process.env.GRANTS ?? 10_000);

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

/**
 * Of twenty grants, one is revoked, one is unused and the others have a refresh token. Keys ascend, because random ones
 * would make inserting slow.
 */
async function insertGrants(from: number, to: number): Promise<void> {
  const client = await app.ctx.pool.connect();
  // Skips the triggers of the audit log, which has nothing to do with this. Only housekeeping has a time limit.
  await client.query('begin; set local session_replication_role = replica; set local statement_timeout = 0');
  await client.query(
    `insert into oauth_grants (id, client_id, user_id, payload, expires_at, inserted_at, revoked_at)
     select to_char(i, 'FM000000000'), 'partner-one', lpad(to_hex(i), 32, '0')::uuid, '{}', now() + interval '1 day', now() - interval '16 days',
       case when i % 20 = 1 then now() - interval '2 days' end from generate_series($1::int, $2::int) i`,
    [from, to],
  );
  await client.query(
    `insert into oauth_artifacts (kind, hash, grant_id, payload, expires_at)
     select 'RefreshToken', decode(lpad(to_hex(i), 64, '0'), 'hex'), to_char(i, 'FM000000000'), '{}',
       now() + interval '1 day'
     from generate_series($1::int, $2::int) i where i % 20 > 1`,
    [from, to],
  );
  await client.query('commit');
  client.release();
}

test(
  `housekeeping deletes what is unused among ${GRANTS} grants, in statements within the time limit`,
  async () => {
    await app.tokenFor({});
    for (let i = 1; i <= GRANTS; i += 50_000) await insertGrants(i, Math.min(i + 49_999, GRANTS));
    await sql`analyze oauth_grants, oauth_artifacts`.execute(app.ctx.db);
    /** Without the time limit of the service, because the test scans the table. */
    const count = async () => {
      const { rows } = await app.ctx.db.transaction().execute(async (tx) => {
        await sql`set local statement_timeout = 0`.execute(tx);
        return sql<{ n: number }>`
          select count(*)::int as n from oauth_grants where inserted_at < now() - interval '1 day'`.execute(
          tx,
        );
      });
      return rows[0]?.n;
    };
    const kept = GRANTS - 2 * Math.floor(GRANTS / 20);
    for (let run = 0; run < 100 && (await count()) !== kept; run++) await runHousekeeping(app.ctx);
    expect(await count()).toBe(kept);
    expect(app.logged()).not.toContain('housekeeping step failed');
  },
  GRANTS * 0.5 + 60_000,
);
