import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { readReport } from '../../src/domain/participations/report-store.ts';
import { associatedAccount, keyOf, receiptAddress } from '../../src/platform/chain/solana/addresses.ts';
import type { Context } from '../../src/platform/context/context.ts';
import { tokenAccountOf } from '../support/solana-accounts.ts';
import type { TestSolana } from '../support/solana-chain.ts';
import { MINT } from '../support/solana-instructions.ts';
import { VAULT } from '../support/solana-sale.ts';
import { COMMITTED_STATUSES, type Row, sumAmounts } from './chain.ts';

/** The token balance that every investor has at the start, in the smallest unit. */
export const INITIAL_DOLLARS = 10n ** 15n;

/** Compares every balance and receipt on the chain with the database. */
export async function checkSolanaBooks(
  { db }: Context,
  solana: TestSolana,
  rows: readonly Row[],
  wallets: readonly string[],
): Promise<string[]> {
  const taken = (list: readonly Row[]) =>
    sumAmounts(list.filter(({ status }) => COMMITTED_STATUSES.has(status))) -
    sumAmounts(list.filter(({ status }) => status === 'remitted'));
  const balances = [
    ['the vault', VAULT, taken(rows)] as const,
    ...wallets.map((wallet) => {
      const own = rows.filter((row) => row.wallet_address === wallet);
      return [wallet, associatedAccount(wallet, MINT), INITIAL_DOLLARS - taken(own)] as const;
    }),
  ];
  const problems = balances.flatMap(([name, account, expected]) => {
    const { amount } = tokenAccountOf(solana, account) ?? { amount: 0n };
    return amount === expected ? [] : [`${name} has ${amount}, the database says ${expected}`];
  });
  for (const row of rows) {
    const wrong = findWrongReceipts(solana, row);
    if (wrong.length > 0) problems.push(...wrong, JSON.stringify(await readReport(db, row.id), null, 1));
  }
  return [...problems, ...(await checkTransactions(db))];
}

/**
 * Checks the receipts, which are the accounts that prove commits and refunds. A commit or refund that is recorded in
 * the database must have exactly one receipt, from any one key. A commit or refund that is not recorded there must have
 * no receipt.
 */
function findWrongReceipts({ chain }: TestSolana, { id, status }: Row): string[] {
  const signers = [solanaRoles.operator.address, solanaRoles.standby.address];
  const countReceipts = (kind: 'commit' | 'remit') =>
    signers.filter((signer) => chain.svm.account(keyOf(receiptAddress(signer, id, kind))) !== null).length;
  const expected = { commit: COMMITTED_STATUSES.has(status) ? 1 : 0, remit: status === 'remitted' ? 1 : 0 };
  return (['commit', 'remit'] as const)
    .filter((kind) => countReceipts(kind) !== expected[kind])
    .map((kind) => `${id} is ${status}, but its ${kind} landed ${countReceipts(kind)} times`);
}

async function checkTransactions(db: Context['db']): Promise<string[]> {
  const states = await db.selectFrom('operator_transactions').select('state').distinct().execute();
  if (states.length === 0) return ['the operator has sent no transaction'];
  return states
    .filter(({ state }) => state !== 'final' && state !== 'displaced')
    .map(({ state }) => `there are transactions in state ${state}`);
}
