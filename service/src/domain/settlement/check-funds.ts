import { ApiError } from '../../kernel/errors.ts';
import type { ApprovalReader } from '../participations/approval.ts';
import { findShortage, inspectFunds } from '../participations/funds.ts';
import { mayEnd } from './agreement.ts';
import { failPending, keepFailing } from './fail.ts';
import { postpone } from './postpone.ts';
import { listSubmittedAmounts, postponeRows, type SettlementRow } from './store.ts';
import type { SettlementWorker } from './worker.ts';

const RESERVED_DELAY_SECONDS = 5;
const UNREADABLE_DELAY_SECONDS = 60;

/**
 * Returns the rows whose allowance and balance are sufficient. Called just before a commit is signed, because a failed
 * transfer costs gas (with some tokens, the entire gas limit). The other rows:
 * - If the allowance or balance is too low, the row becomes `failed`, or is postponed if it cannot safely fail yet.
 * - If the allowance or balance cannot be read, the row is postponed.
 * - If other commits leave too little of the wallet's allowance or balance for the row, it is postponed.
 */
export async function keepFunded(
  worker: SettlementWorker,
  rows: readonly SettlementRow[],
  height: bigint,
): Promise<SettlementRow[]> {
  if (rows.length === 0) return [];
  const { ctx, driver } = worker;
  const [available, reserved] = await Promise.all([
    driver.reader().readFunds(rows, height),
    readReserved(worker, rows),
  ]);
  const funded: SettlementRow[] = [];
  const waiting: SettlementRow[] = [];
  for (const [i, row] of rows.entries()) {
    const found = available[i] ?? null;
    if (found instanceof ApiError) {
      const message = `the token ${row.token} does not behave like a token: ${found.message}`;
      await postpone(worker, [row], UNREADABLE_DELAY_SECONDS, { reason: 'reverts', message });
    } else if (found === null) waiting.push(row);
    else if (findShortage(row, found) !== null) await failShort(worker, row, height);
    else {
      const isCovered =
        found.allowance >= reserved.read(row, 'allowance') + row.amount &&
        found.balance >= reserved.read(row, 'balance') + row.amount;
      if (isCovered) reserved.add(row);
      (isCovered ? funded : waiting).push(row);
    }
  }
  await postponeRows(
    ctx.db,
    waiting.map(({ id }) => id),
    RESERVED_DELAY_SECONDS,
  );
  return funded;
}

async function failShort(worker: SettlementWorker, row: SettlementRow, height: bigint): Promise<void> {
  const { ctx, driver } = worker;
  const judge = async (reader: ApprovalReader): Promise<string> => {
    const [finding] = await inspectFunds(reader, [row], height);
    return finding?.state === 'short' ? finding.shortage.code : String(finding?.state);
  };
  const reason = await judge(driver.reader());
  const isShort = reason === 'insufficient_allowance' || reason === 'insufficient_balance';
  if (isShort && (await keepFailing(worker, [row])).length === 0) return;
  if (!isShort || !(await mayEnd(worker, driver.readers(), [row], reason, judge)))
    return postponeRows(ctx.db, [row.id], RESERVED_DELAY_SECONDS);
  await failPending(ctx, [row], reason);
}

type Payment = Pick<SettlementRow, 'user' | 'token' | 'fund' | 'amount'>;
type Source = 'allowance' | 'balance';

/**
 * Adds up the amounts that commits in progress will take. A wallet pays all its commits from one balance per token, but
 * has an allowance for each fund.
 */
async function readReserved({ ctx, driver }: SettlementWorker, rows: readonly SettlementRow[]) {
  const sums = new Map<string, bigint>();
  const keyOf = ({ user, token, fund }: Omit<Payment, 'amount'>, source: Source) =>
    `${user} ${token} ${source === 'allowance' ? fund : ''}`;
  const read = (payment: Omit<Payment, 'amount'>, source: Source) => sums.get(keyOf(payment, source)) ?? 0n;
  const add = (payment: Payment) => {
    for (const source of ['allowance', 'balance'] as const)
      sums.set(keyOf(payment, source), read(payment, source) + payment.amount);
  };
  const wallets = [...new Set(rows.map(({ user }) => user))];
  for (const each of await listSubmittedAmounts(ctx.db, driver.key.chain, wallets)) add(each);
  return { read, add };
}
