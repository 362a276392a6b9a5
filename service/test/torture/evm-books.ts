import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import type { Hex } from 'viem';
import { keccak256, toHex } from 'viem/utils';
import { readReport } from '../../src/domain/participations/report-store.ts';
import { readFundEvents } from '../../src/platform/chain/evm/fund-events.ts';
import { readBlocks } from '../../src/platform/chain/evm/node-reads.ts';
import { decodeFundEvent } from '../../src/platform/chain/evm/sale-fund.ts';
import type { Context } from '../../src/platform/context/context.ts';
import type { Offer } from '../../src/platform/context/ports.ts';
import type { TestChain } from '../support/chain.ts';
import { COMMITTED_STATUSES, type Row, sumAmounts } from './chain.ts';

/** The database and the chain that the checks read, and the sale's fund. */
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
  ];
}

/** Counts settled transactions whose block is no longer on the chain. */
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

/**
 * Checks that the fund holds what was committed and not refunded. The fund's totals alone do not show whether the token
 * contract has transferred less than it claims.
 */
async function checkBalance({ chain, fund, usdc }: Books, rows: readonly Row[]): Promise<string[]> {
  const args = [fund] as const;
  const balance = await chain.direct.readContract({
    ...{ address: usdc, abi: token.abi, functionName: 'balanceOf', args },
  });
  const held = rows.filter(({ status }) => status !== 'remitted' && COMMITTED_STATUSES.has(status));
  const expected = sumAmounts(held);
  return balance === expected ? [] : [`the fund holds ${balance}, the database has ${expected}`];
}

/**
 * Finds the amounts that occur more often on chain than in the database, or less often. Returns the wallet's events and
 * participations with these amounts.
 */
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
 * Checks that the database has one transaction for each nonce that the operator has used on the chain, and that no
 * transaction is open. A nonce may be missing from the database in one case: a failover removed its transaction, and
 * that transaction was a commit that settled nothing. An operator then has nothing to adopt.
 */
async function checkNonces(books: Books): Promise<string[]> {
  const { db } = books.ctx;
  // A displaced transaction does not count, because another transaction has used its nonce. The database has adopted
  // that transaction, or the nonce is one of the gaps.
  const transactions = await db
    .selectFrom('operator_transactions')
    .select(['nonce', 'state'])
    .where('state', '<>', 'displaced')
    .execute();
  if (transactions.length === 0) return ['the operator has sent no transaction'];
  const nonces = transactions.map(({ nonce }) => Number(nonce));
  const known = new Set(nonces);
  const keys = await db.selectFrom('operator_keys').select('next_nonce').execute();
  const next = Math.max(...keys.map(({ next_nonce }) => Number(next_nonce ?? 0n)));
  const onChain = await books.chain.direct.getTransactionCount({ address: roles.operator.address });
  const first = Math.min(...nonces);
  const gaps = Array.from({ length: onChain - first }, (_, i) => first + i).filter(
    (each) => !known.has(each),
  );
  return [
    ...(known.size === nonces.length ? [] : ['the database has two transactions with the same nonce']),
    ...(onChain === next
      ? []
      : [`the chain has ${onChain} transactions of the operator, the database has ${next}`]),
    ...transactions
      .filter(({ state }) => state !== 'settled' && state !== 'final')
      .map(({ nonce, state }) => `the transaction with nonce ${nonce} is ${state}`),
    ...(await findHarmfulGaps(books, gaps)),
  ];
}

/**
 * Returns a problem for each nonce that is missing from the database (`gaps`), unless its transaction is on the chain
 * and settled nothing.
 */
async function findHarmfulGaps(
  { chain: { direct }, fund }: Books,
  gaps: readonly number[],
): Promise<string[]> {
  const harmless = new Set<number>();
  const head = await direct.getBlockNumber();
  for (let number = 0n; number <= head && harmless.size < gaps.length; number++) {
    const { transactions } = await direct.getBlock({ blockNumber: number, includeTransactions: true });
    for (const { from, nonce, hash } of transactions) {
      if (from !== roles.operator.address.toLowerCase() || !gaps.includes(nonce)) continue;
      const { logs } = await direct.getTransactionReceipt({ hash });
      const events = logs.filter(({ address }) => address === fund.toLowerCase()).map(decodeFundEvent);
      if (events.every((event) => event === null || event.name === 'BatchFail')) harmless.add(nonce);
    }
  }
  return gaps
    .filter((nonce) => !harmless.has(nonce))
    .map(
      (nonce) =>
        `the database lacks the transaction with nonce ${nonce}, which is not one that settled nothing`,
    );
}
