import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { sql } from 'kysely';
import type { Hex } from 'viem';
import { keccak256, toHex } from 'viem/utils';
import { readReport } from '../../src/participations/report-store.ts';
import { type Client, countAcknowledged } from './client.ts';
import type { World } from './world.ts';

export type Report = { problems: string[]; figures: Record<string, number> };

/** What is still under way, and what was reorganised away without anybody having noticed. */
export async function countUnfinished({ built: { ctx }, chain }: World): Promise<number> {
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

/** Compares the database with what the chain says, and each with what was promised. */
export async function verify(world: World, clients: readonly Client[]): Promise<Report> {
  const { ctx } = world.built;
  const { rows } = await sql<Row>`
    select p.id, p.status, p.reason, p.amount, p.wallet_address, (
      select e.type from events e where e.data ->> 'id' = p.id::text order by e.written desc limit 1) as last_event
    from participations p`.execute(ctx.db);
  const problems = [
    ...checkRows(rows, clients),
    ...(await checkTotals(world, rows, clients)),
    ...(await checkNonces(world)),
  ];
  const count = (status: string) => rows.filter((row) => row.status === status).length;
  const figures = {
    acknowledged: countAcknowledged(clients),
    completed: count('completed'),
    failed: count('failed'),
    remitted: count('remitted'),
    remit_failed: count('remit_failed'),
  };
  return { problems, figures };
}

function checkRows(rows: Row[], clients: readonly Client[]): string[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const lost = clients
    .flatMap(({ acknowledged }) => acknowledged)
    .filter((id) => !byId.has(id))
    .map((id) => `${id} was acknowledged and is gone`);
  const wrong = rows.flatMap(({ id, status, reason, last_event }) => [
    ...(['completed', 'failed', 'remitted', 'remit_failed'].includes(status)
      ? []
      : [`${id} is stuck in ${status}`]),
    ...(status === 'failed' && reason === null ? [`${id} failed without a reason`] : []),
    ...(last_event === `participation.${status}`
      ? []
      : [`${id} is ${status}, its last event is ${last_event}`]),
  ]);
  return [...lost, ...wrong];
}

const TAKEN = new Set(['completed', 'remitted', 'remit_failed']);

async function checkTotals(world: World, rows: Row[], clients: readonly Client[]): Promise<string[]> {
  const { chain, offer } = world;
  const usdc = chain.deployment.tokens.find(({ asset_id }) => asset_id === 'usd-coin')?.address ?? '0x';
  const fund = chain.deployment.sale_funds.open;
  const option = keccak256(toHex(offer.options[0]?.id ?? ''));
  const problems: string[] = [];
  const compare = async (who: string, args: readonly Hex[], mine: Row[]) => {
    const onChain = (await chain.direct.readContract({
      ...{ address: fund, abi: saleFund.abi, functionName: 'totals', args },
    } as never)) as readonly bigint[];
    const taken = mine.filter(({ status }) => TAKEN.has(status));
    const remitted = mine.filter(({ status }) => status === 'remitted');
    const inBooks = [taken, remitted].flatMap((list) => [
      BigInt(list.length),
      list.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
    ]);
    if (onChain.join() === inBooks.join()) return;
    problems.push(`${who}: the chain says ${onChain.join(', ')}, the database ${inBooks.join(', ')}`);
    if (who !== 'all') problems.push(...(await explain(world, who as Hex, mine)));
  };
  for (const { address } of clients)
    await compare(
      address,
      [address, option, usdc],
      rows.filter((row) => row.wallet_address === address),
    );
  await compare('all', [usdc], rows);
  return problems;
}

/** The participations of a wallet that may be the wrong ones: of an amount that was not taken or given back as often. */
async function explain({ built: { ctx }, chain }: World, wallet: Hex, rows: Row[]): Promise<string[]> {
  const logs = await chain.direct.getContractEvents({
    ...{ address: chain.deployment.sale_funds.open, abi: saleFund.abi, fromBlock: 0n, strict: true },
  });
  const told = logs.flatMap(({ eventName, args, transactionHash }) =>
    'user' in args && 'amount' in args && args.user.toLowerCase() === wallet
      ? [{ eventName, amount: String(args.amount), transactionHash }]
      : [],
  );
  const suspects = [...new Set(rows.map(({ amount }) => amount))].filter((amount) => {
    const count = (name: string) =>
      told.filter((event) => event.eventName === name && event.amount === amount).length;
    const mine = rows.filter((row) => row.amount === amount);
    return (
      count('Committed') !== mine.filter(({ status }) => TAKEN.has(status)).length ||
      count('Remitted') !== mine.filter(({ status }) => status === 'remitted').length
    );
  });
  const reports = await Promise.all(
    rows.filter(({ amount }) => suspects.includes(amount)).map(({ id }) => readReport(ctx.db, id)),
  );
  const events = told.filter(({ amount }) => suspects.includes(amount));
  return [JSON.stringify(events, null, 1), ...reports.map((report) => JSON.stringify(report, null, 1))];
}

/** No gap, nothing doubled, nothing left open. */
async function checkNonces({ built: { ctx }, chain }: World): Promise<string[]> {
  const { rows } = await sql<{ first: bigint; last: bigint; n: bigint; next: bigint; states: string[] }>`
    select min(t.nonce) as first, max(t.nonce) as last, count(*) as n, max(k.next_nonce) as next,
      array_agg(distinct t.state) as states
    from operator_transactions t join operator_keys k on k.chain = t.chain and k.address = t.signer`.execute(
    ctx.db,
  );
  const [row] = rows;
  if (row === undefined || row.n === null || row.n === 0n) return ['the operator has sent nothing'];
  const onChain = BigInt(await chain.direct.getTransactionCount({ address: roles.operator.address }));
  return [
    ...(row.last - row.first + 1n === row.n
      ? []
      : [`nonces ${row.first} to ${row.last} are ${row.n} transactions`]),
    ...(row.next === row.last + 1n ? [] : [`the next nonce is ${row.next} after ${row.last}`]),
    ...(onChain === row.next
      ? []
      : [`the chain has counted ${onChain} transactions, the database ${row.next}`]),
    ...row.states
      .filter((state) => state !== 'settled' && state !== 'final')
      .map((state) => `transactions are ${state}`),
  ];
}
