import { sql } from 'kysely';
import { type Named, reportTampered } from '../support/tamper.ts';
import type { Row } from './chain.ts';
import type { Environment } from './environment.ts';
import { countAcknowledged, type Investor } from './investor.ts';

export type Report = { problems: string[]; figures: Record<string, number> };

/** Counts unfinished work, and settled transactions that a reorganization undid without the service noticing. */
export async function countUnfinished({ built: { ctx }, chain }: Environment): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select (select count(*) from participations where status in ('prepared', 'pending', 'submitted', 'remit_submitted'))::int
      + (select count(*) from operator_transactions where state = 'open')::int as n`.execute(ctx.db);
  return (rows[0]?.n ?? -1) + (await chain.countUndone(ctx));
}

/**
 * Compares the database with the chain, and both with the participations that the service has acknowledged.
 */
export async function verify(environment: Environment, investors: readonly Investor[]): Promise<Report> {
  const { ctx } = environment.built;
  const { rows } = await sql<Row>`
    select p.id, p.status, p.reason, p.amount, p.wallet_address, (
      select e.type from events e where e.data ->> 'id' = p.id::text order by e.written desc limit 1) as last_event
    from participations p`.execute(ctx.db);
  const wallets = investors.map(({ address }) => address);
  const problems = [
    ...checkRows(rows, investors),
    ...(await environment.chain.checkBooks({ ctx, offer: environment.offer }, rows, wallets)),
    ...(await checkReport(environment)),
  ];
  const count = (status: string) => rows.filter((row) => row.status === status).length;
  const figures = {
    acknowledged: countAcknowledged(investors),
    completed: count('completed'),
    failed: count('failed'),
    remitted: count('remitted'),
    remit_failed: count('remit_failed'),
  };
  return { problems, figures };
}

function checkRows(rows: Row[], investors: readonly Investor[]): string[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const lost = investors
    .flatMap(({ acknowledged }) => acknowledged)
    .filter((id) => !byId.has(id))
    .map((id) => `${id} was acknowledged but does not exist`);
  const wrong = rows.flatMap(({ id, status, reason, last_event }) => [
    ...(['completed', 'failed', 'remitted', 'remit_failed'].includes(status)
      ? []
      : [`${id} is stuck as ${status}`]),
    ...(status === 'failed' && reason === null ? [`${id} failed without a reason`] : []),
    ...(last_event === `participation.${status}`
      ? []
      : [`${id} is ${status}, but its last event is ${last_event}`]),
  ]);
  return [...lost, ...wrong];
}

const TAMPERED_ROWS = 5;

/**
 * Checks that the report finds no difference. Then tampers with one participation or transaction at a time, and checks
 * that the report lists exactly that one.
 */
async function checkReport({ built: { ctx }, chain }: Environment): Promise<string[]> {
  const clean = await chain.report(ctx, ctx.db);
  if (!clean.agrees) return [`the reconcile report differs: ${JSON.stringify(clean, null, 1)}`];
  const { rows } = await sql<{ id: string; transaction: string; hash: Buffer }>`
    select p.id, t.id as transaction, t.mined_hash as hash
    from participations p join operator_transactions t on t.id = p.commit_id
    where p.committed and t.mined_hash is not null and t.block_number <= ${clean.to_block}
    order by md5(p.id::text) limit ${TAMPERED_ROWS}`.execute(ctx.db);
  if (rows.length === 0) return ['no settled participation is old enough for the report'];
  const problems: string[] = [];
  for (const { id, transaction, hash } of rows) {
    const other = `\\x${Buffer.from(hash).reverse().toString('hex')}`;
    for (const statement of [
      `update participations set amount = amount + 1000003 where id = '${id}'`,
      `update operator_transactions set mined_hash = '${other}' where id = '${transaction}'`,
    ]) {
      const named = await reportTampered(ctx.db, statement, (db) => chain.report(ctx, db));
      // Several entries may list the same participation: a changed amount contradicts the commit and, if there was a
      // refund, the refund too.
      const isNamed = (each: Named[number]) =>
        each.rows.join() === id || each.transactions.includes(`0x${hash.toString('hex')}`);
      const isExact = named.length > 0 && named.every(isNamed);
      if (!isExact) problems.push(`after "${statement}" the report names ${JSON.stringify(named)}`);
    }
  }
  return problems;
}
