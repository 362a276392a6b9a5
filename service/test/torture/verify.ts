import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { sql } from 'kysely';
import type { Hex } from 'viem';
import { keccak256, toHex } from 'viem/utils';
import { readBlocks } from '../../src/chain/evm/blocks.ts';
import { readFundEvents } from '../../src/chain/evm/fund-events.ts';
import { readReport } from '../../src/participations/report-store.ts';
import { buildReport } from '../../src/settlement/reconcile-report.ts';
import type { Environment } from './environment.ts';
import { countAcknowledged, type Investor } from './investor.ts';

export type Report = { problems: string[]; figures: Record<string, number> };

/** Counts what is still in progress, and settled transactions that a reorganisation undid unnoticed. */
export async function countUnfinished({ built: { ctx }, chain }: Environment): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select (select count(*) from participations where status in ('prepared', 'pending', 'submitted', 'remit_submitted'))::int
      + (select count(*) from operator_transactions where state = 'open')::int as n`.execute(ctx.db);
  const watched = await ctx.db
    .selectFrom('operator_transactions')
    .select(['block_number', 'block_hash'])
    .where('state', '=', 'settled')
    .execute();
  let undone = 0;
  for (const { block_number, block_hash } of watched) {
    const block = await chain.direct.getBlock({ blockNumber: block_number ?? 0n }).catch(() => null);
    if (block?.hash !== toHex(block_hash ?? '')) undone++;
  }
  return (rows[0]?.n ?? -1) + undone;
}

type Row = {
  id: string;
  status: string;
  reason: string | null;
  amount: string;
  wallet_address: Hex;
  last_event: string;
};

/** Checks the database against the chain, and both against what the service has acknowledged. */
export async function verify(environment: Environment, investors: readonly Investor[]): Promise<Report> {
  const { ctx } = environment.built;
  const { rows } = await sql<Row>`
    select p.id, p.status, p.reason, p.amount, p.wallet_address, (
      select e.type from events e where e.data ->> 'id' = p.id::text order by e.written desc limit 1) as last_event
    from participations p`.execute(ctx.db);
  const problems = [
    ...checkRows(rows, investors),
    ...(await checkTotals(environment, rows, investors)),
    ...(await checkNonces(environment)),
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

/** Checks that the operator's own report finds nothing. */
async function checkReport({ built: { ctx } }: Environment): Promise<string[]> {
  const report = await buildReport(ctx, ctx.chains.evm('ethereum_sepolia'));
  return report.agrees ? [] : [`the reconcile report differs: ${JSON.stringify(report, null, 1)}`];
}

const COMMITTED = new Set(['completed', 'remitted', 'remit_failed']);

async function checkTotals(
  environment: Environment,
  rows: Row[],
  investors: readonly Investor[],
): Promise<string[]> {
  const { chain, offer } = environment;
  const usdc = chain.deployment.tokens.find(({ asset_id }) => asset_id === 'usd-coin')?.address ?? '0x';
  const { fund } = environment;
  const option = keccak256(toHex(offer.options[0]?.id ?? ''));
  const problems: string[] = [];
  const compare = async (subject: string, args: readonly Hex[], subjectRows: Row[]) => {
    const onChain = (await chain.direct.readContract({
      ...{ address: fund, abi: saleFund.abi, functionName: 'totals', args },
    } as never)) as readonly bigint[];
    const committed = subjectRows.filter(({ status }) => COMMITTED.has(status));
    const remitted = subjectRows.filter(({ status }) => status === 'remitted');
    const inDatabase = [committed, remitted].flatMap((list) => [
      BigInt(list.length),
      list.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
    ]);
    if (onChain.join() === inDatabase.join()) return;
    problems.push(
      `${subject}: the chain has ${onChain.join(', ')}, the database has ${inDatabase.join(', ')}`,
    );
    if (subject !== 'all') problems.push(...(await explain(environment, subject as Hex, subjectRows)));
  };
  for (const { address } of investors)
    await compare(
      address,
      [address, option, usdc],
      rows.filter((row) => row.wallet_address === address),
    );
  await compare('all', [usdc], rows);
  return problems;
}

/** Returns a wallet's events and participations for every amount whose counts differ between chain and database. */
async function explain({ built: { ctx }, fund }: Environment, wallet: Hex, rows: Row[]): Promise<string[]> {
  const chain = ctx.chains.evm('ethereum_sepolia');
  const [head] = await readBlocks(chain, ['latest']);
  const events = (await readFundEvents(chain, [fund], 0n, head.number))
    .filter(({ user }) => user === wallet)
    .map(({ name, amount, hash }) => ({ eventName: name, amount: String(amount), transactionHash: hash }));
  const suspects = [...new Set(rows.map(({ amount }) => amount))].filter((amount) => {
    const count = (name: string) =>
      events.filter((event) => event.eventName === name && event.amount === amount).length;
    const sameAmount = rows.filter((row) => row.amount === amount);
    return (
      count('Committed') !== sameAmount.filter(({ status }) => COMMITTED.has(status)).length ||
      count('Remitted') !== sameAmount.filter(({ status }) => status === 'remitted').length
    );
  });
  const reports = await Promise.all(
    rows.filter(({ amount }) => suspects.includes(amount)).map(({ id }) => readReport(ctx.db, id)),
  );
  const suspectEvents = events.filter(({ amount }) => suspects.includes(amount));
  return [
    JSON.stringify(suspectEvents, null, 1),
    ...reports.map((report) => JSON.stringify(report, null, 1)),
  ];
}

/** Checks that the nonces have no gap or duplicate and that no transaction is open. */
async function checkNonces({ built: { ctx }, chain }: Environment): Promise<string[]> {
  const { rows } = await sql<{ first: bigint; last: bigint; n: bigint; next: bigint; states: string[] }>`
    select min(t.nonce) as first, max(t.nonce) as last, count(*) as n, max(k.next_nonce) as next,
      array_agg(distinct t.state) as states
    from operator_transactions t join operator_keys k on k.chain = t.chain and k.address = t.signer`.execute(
    ctx.db,
  );
  const [row] = rows;
  if (row === undefined || row.n === null || row.n === 0n) return ['the operator has sent no transaction'];
  const onChain = BigInt(await chain.direct.getTransactionCount({ address: roles.operator.address }));
  return [
    ...(row.last - row.first + 1n === row.n
      ? []
      : [`there are ${row.n} transactions with nonces ${row.first} to ${row.last}`]),
    ...(row.next === row.last + 1n
      ? []
      : [`the next nonce is ${row.next}, but the last one used is ${row.last}`]),
    ...(onChain === row.next
      ? []
      : [`the chain has ${onChain} transactions of the operator, the database has ${row.next}`]),
    ...row.states
      .filter((state) => state !== 'settled' && state !== 'final')
      .map((state) => `there are transactions in state ${state}`),
  ];
}
