import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { type TestApp, testApp } from '../../test/support/app.ts';
import { runHousekeeping } from './housekeeping.ts';

/** Set `GRANTS=5000000` to run the test at full size, which takes minutes. */
const GRANTS = Number(process.env.GRANTS ?? 10_000);

let database: TestDatabase;
let app: TestApp;
/**
 * Unlike the service's connections, this connection has no timeouts: only housekeeping has to stay within the timeouts,
 * not the test setup.
 */
let unlimited: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  app = await testApp({ databaseUrl: database.url });
  unlimited = new pg.Client({ connectionString: database.url });
  await unlimited.connect();
});
afterAll(async () => {
  await unlimited.end();
  await app.close();
  await database.drop();
});

/** The characters that ids consist of, in sort order. */
const ALPHABET = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
/**
 * Ids ascend, because inserting random ids is slow. These ids are spread over the alphabet like random ids, because
 * housekeeping relies on such a spread.
 */
const ID = `(select string_agg(substr('${ALPHABET}', (floor(i::float8 / (${GRANTS} + 1) * 262144)::int >> shift) % 64 + 1, 1),
    '' order by shift desc) from unnest(array[0, 6, 12]) shift) || to_char(i, 'FM000000000')`;

/** Inserts grants. Of every twenty, one is revoked, one is unused and the others have a refresh token. */
async function insertGrants(from: number, to: number): Promise<void> {
  // Skip the triggers of the audit log, which this test does not need.
  await unlimited.query('begin; set local session_replication_role = replica');
  await unlimited.query(
    `insert into oauth_grants (id, client_id, user_id, payload, expires_at, inserted_at, revoked_at)
     select ${ID}, 'partner-one', lpad(to_hex(i), 32, '0')::uuid, '{}', now() + interval '1 day', now() - interval '16 days',
       case when i % 20 = 1 then now() - interval '2 days' end from generate_series($1::int, $2::int) i`,
    [from, to],
  );
  await unlimited.query(
    `insert into oauth_artifacts (kind, hash, grant_id, payload, expires_at)
     select 'RefreshToken', decode(lpad(to_hex(i), 64, '0'), 'hex'), ${ID}, '{}',
       now() + interval '1 day'
     from generate_series($1::int, $2::int) i where i % 20 > 1`,
    [from, to],
  );
  await unlimited.query('commit');
}

test(
  `housekeeping deletes what is unused among ${GRANTS} grants, in statements within the time limit`,
  async () => {
    await app.tokenFor({});
    for (let i = 1; i <= GRANTS; i += 50_000) await insertGrants(i, Math.min(i + 49_999, GRANTS));
    await unlimited.query('analyze oauth_grants, oauth_artifacts');
    const count = async () => {
      const { rows } = await unlimited.query(
        `select count(*)::int as n from oauth_grants where inserted_at < now() - interval '1 day'`,
      );
      return rows[0]?.n;
    };
    const kept = GRANTS - 2 * Math.floor(GRANTS / 20);
    // A run covers 200,000 grants starting at a random id. Runs overlap, so 5,000,000 grants take more than a hundred
    // runs.
    for (let run = 0; run < 1_000 && (run % 10 > 0 || (await count()) !== kept); run++)
      await runHousekeeping(app.ctx);
    expect(await count()).toBe(kept);
    expect(app.logged()).not.toContain('housekeeping step failed');
  },
  GRANTS * 0.5 + 60_000,
);
