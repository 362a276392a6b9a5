import { type KyselyPlugin, PostgresQueryCompiler, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../test/support/app.ts';
import { runHousekeeping } from './housekeeping.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const RECORD = 'a record that the law or an investor may ask for';
const PER_USER = 'at most a few rows per user, erased with the user';
const CONFIGURED = 'grows only when an operator or a partner configures something';

/** Tables that need no job to delete their rows, and why. */
const BOUNDED: Record<string, string> = {
  ...Object.fromEntries(
    ['participations', 'operator_transactions', 'operator_attempts', 'refund_requests', 'erasures']
      .concat(['sanctions_hits', 'user_holds', 'document_submissions', 'country_changes'])
      .concat(['allow_verifications', 'allow_revocations', 'acknowledgements'])
      .map((name) => [name, RECORD]),
  ),
  ...Object.fromEntries(
    [
      'users',
      'passkeys',
      'totp_secrets',
      'recovery_codes',
      'notice_opt_outs',
      'identity_applicants',
      'identity_reviews',
      'wallet_proofs',
    ]
      .concat(['wallet_owners', 'wallet_owner_keys', 'option_addresses', 'watched_addresses'])
      .concat(['reported_statuses', 'status_checks'])
      .map((name) => [name, PER_USER]),
  ),
  ...Object.fromEntries(
    ['partners', 'partner_sequences', 'oauth_clients', 'oauth_removed_scopes', 'offers']
      .concat(['offer_options', 'offer_partners', 'offer_contracts', 'offer_funding_assets', 'assets'])
      .concat(['offer_funding_tokens', 'requirements', 'reserved_supply', 'reported_offers', 'refund_limits'])
      .concat(['operator_keys', 'operator_key_uses', 'settlement_pauses', 'reconcile_passes'])
      .concat(['sanctions_list', 'audit_former_keys', 'unsubscribe_keys', 'installation', 'installation_ids'])
      .concat(['installation_secrets', 'schema_migrations'])
      .map((name) => [name, CONFIGURED]),
  ),
  audit_start: 'one row',
  audit_blinding: 'one row',
  audit_tiles: 'kept: 32 bytes per entry of the audit log, so that its tree stays public',
  audit_entries: 'deleted up to the start of the log once it moves, see audit/retention.test.ts',
  audit_reasons: 'deleted with the entries',
  audit_checkpoints: 'deleted with the entries, see audit/retention.test.ts',
  foreign_transactions: 'one row per transaction of a key that another program has used: an incident',
  reconcile_differences: 'one row per difference between a chain and the database: an incident',
  mail_outbox: 'the mail worker deletes a mail once it is sent, or after a day',
  forms_to_archive: 'the reconciler deletes a form once it is archived, or a week after its link has expired',
  webhook_attempts: 'whole months are dropped, see webhooks/attempt-partitions.test.ts',
};

test('every table is bounded, or housekeeping deletes from it', async () => {
  const statements: string[] = [];
  const compiler = new PostgresQueryCompiler();
  const record: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      statements.push(compiler.compileQuery(node, queryId).sql);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  await runHousekeeping({ ...app.ctx, db: app.ctx.db.withPlugin(record) });
  const deleted = new Set(
    statements.flatMap((text) => [...text.matchAll(/delete from "?(\w+)"?/g)].map(([, name]) => name)),
  );
  const { rows } = await sql<{ name: string }>`select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`.execute(
    app.ctx.db,
  );
  const tables = rows.map(({ name }) => name);
  expect(tables.filter((name) => !deleted.has(name) && !(name in BOUNDED))).toEqual([]);
  expect(Object.keys(BOUNDED).filter((name) => !tables.includes(name) || deleted.has(name))).toEqual([]);
});
