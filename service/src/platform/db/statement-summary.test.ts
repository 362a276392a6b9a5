import { expect, test } from 'vitest';
import { summarizeStatement } from './statement-summary.ts';

test.each([
  ['select * from users where id = $1 for update', 'select users'],
  ['select 1 for no key update', 'select'],
  ['select pg_advisory_xact_lock($1)', 'select'],
  ['insert into "events" (id) values ($1) on conflict do update set id = $2', 'insert events'],
  ['update users set a = 1', 'update users'],
  ['select extract(epoch from inserted_at) from audit_checkpoints', 'select audit_checkpoints'],
  ['select a is distinct from b from offers', 'select offers'],
  ["select 'from alice' as x from unnest($1) join tokens_2 on true", 'select tokens_2'],
  ['delete from only notices', 'delete notices'],
  ['begin', 'begin'],
])('%s is summarized as %s', (text, name) => {
  expect(summarizeStatement(text).name).toBe(name);
});
