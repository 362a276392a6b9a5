import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { sql } from 'kysely';
import type { Hex } from 'viem';
import { keccak256, toHex } from 'viem/utils';
import { readBlocks } from '../../src/chain/evm/blocks.ts';
import { readFundEvents } from '../../src/chain/evm/fund-events.ts';
import type { Context } from '../../src/context.ts';
import type { Offer } from '../../src/offers/catalogue.ts';
import { readReport } from '../../src/participations/report-store.ts';
import { buildReport } from '../../src/settlement/reconcile-report.ts';
import type { TestChain } from '../support/chain.ts';
import { COMMITTED_STATUSES, type Row, sumAmounts } from './chain.ts';

/** What the checks read: the database and the chain with the fund of the sale. */
type Books = { ctx: Context; offer: Offer; chain: TestChain; fund: Hex; usdc: Hex };

/** Compares counts, sums and nonces on the chain with the database. */
export async function checkEvmBooks(
  books: Books,
  rows: readonly Row[],
  wallets: readonly string[],
): Promise<string[]> {
  return [
    ...(await checkTotals(books, rows, wallets)),
    ...(await checkBalance(books, rows)),
    ...(await checkNonces(books)),
    ...(await checkReport(books)),
  ];
}

/** Counts settled transactions whose block left the chain. */
export async function countUndone({ db }: Context, { direct }: TestChain): Promise<number> {
  const watched = await db
    .selectFrom('operator_transactions')
    .select(['block_number', 'block_hash'])
    .where('state', '=', 'settled')
    .execute();
  let undone = 0;
  for (const { block_number, block_hash } of watched) {
    const block = await direct.getBlock({ blockNumber: block_number ?? 0n }).catch(() => null);
    if (block?.hash !== toHex(block_hash ?? '')) undone++;
  }
  return undone;
}

/** Checks that the operator's own report finds nothing. */
async function checkReport({ ctx }: Books): Promise<string[]> {
  const report = await buildReport(ctx, ctx.chains.evm('ethereum_sepolia'));
  return report.agrees ? [] : [`the reconcile report differs: ${JSON.stringify(report, null, 1)}`];
}

async function checkTotals(
  books: Books,
  rows: readonly Row[],
  wallets: readonly string[],
): Promise<string[]> {
  const { chain, offer, fund, usdc } = books;
  const option = keccak256(toHex(offer.options[0]?.id ?? ''));
  const problems: string[] = [];
  const compare = async (subject: string, args: readonly Hex[], subjectRows: readonly Row[]) => {
    const onChain = (await chain.direct.readContract({
      ...{ address: fund, abi: saleFund.abi, functionName: 'totals', args },
    } as never)) as readonly bigint[];
    const committed = subjectRows.filter(({ status }) => COMMITTED_STATUSES.has(status));
    const remitted = subjectRows.filter(({ status }) => status === 'remitted');
    const inDatabase = [committed, remitted].flatMap((list) => [BigInt(list.length), sumAmounts(list)]);
    if (onChain.join() === inDatabase.join()) return;
    problems.push(
      `${subject}: the chain has ${onChain.join(', ')}, the database has ${inDatabase.join(', ')}`,
    );
    if (subject !== 'all') problems.push(...(await explain(books, subject, subjectRows)));
  };
  for (const address of wallets)
    await compare(
      address,
      [address as Hex, option, usdc],
      rows.filter((row) => row.wallet_address === address),
    );
  await compare('all', [usdc], rows);
  return problems;
}

/** Checks that the fund holds what was committed and not refunded: a token that moves less must not be taken at its word. */
async function checkBalance({ chain, fund, usdc }: Books, rows: readonly Row[]): Promise<string[]> {
  const args = [fund] as const;
  const balance = await chain.direct.readContract({
    ...{ address: usdc, abi: token.abi, functionName: 'balanceOf', args },
  });
  const held = rows.filter(({ status }) => status !== 'remitted' && COMMITTED_STATUSES.has(status));
  const expected = sumAmounts(held);
  return balance === expected ? [] : [`the fund holds ${balance}, the database has ${expected}`];
}

/** Returns a wallet's events and participations for every amount whose counts differ between chain and database. */
async function explain({ ctx, fund }: Books, wallet: string, rows: readonly Row[]): Promise<string[]> {
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
      count('Committed') !== sameAmount.filter(({ status }) => COMMITTED_STATUSES.has(status)).length ||
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

/**
 * Checks that no nonce was used twice, that the chain has as many transactions as the database, and that none is open.
 * A commit that a failover lost and that committed nothing leaves a gap in the database; the report finds lost commits
 * that did commit something.
 */
async function checkNonces({ ctx, chain }: Books): Promise<string[]> {
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
    ...(row.last - row.first + 1n >= row.n
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
