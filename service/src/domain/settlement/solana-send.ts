import type { SendingRole } from '../../kernel/config/role.ts';
import { groupBy } from '../../kernel/group-by.ts';
import { readAccounts } from '../../platform/chain/solana/reads.ts';
import { readTokenAccount, type TokenAccount } from '../../platform/chain/solana/token-accounts.ts';
import { Blocked, type BlockedReason } from '../../platform/operator/blocked.ts';
import { assertKeyStarted } from '../../platform/operator/key-start.ts';
import { SigningRefused } from '../../platform/operator/receipt-policy.ts';
import {
  assertReceiptsFunded,
  SimulationFailed,
  sendReceipt,
} from '../../platform/operator/receipt-sender.ts';
import { submitRows } from './commit.ts';
import { postpone, skipFunds } from './postpone.ts';
import { listFunds } from './reconcile-store.ts';
import { failRefund, submitRefunds } from './refund.ts';
import { skipLanded } from './solana-landed.ts';
import { listReceiptSigners, orderOf, readFund, type SolanaParts } from './solana-parts.ts';
import { postponeRows, type SettlementRow } from './store.ts';

/**
 * How many rows are sent at a time. Limited, because every send briefly needs a database connection, and nodes have
 * rate limits.
 */
const MAX_CONCURRENT_SENDS = 4;
const FAILING_ROW_DELAY_SECONDS = 15;
const BLOCKED_REFUND_DELAY_SECONDS = 15;
const FOREIGN_ROW_DELAY_SECONDS = 30;
/**
 * If a step has at least this many rows and can send none of them, it skips their fund for a few seconds. Otherwise,
 * thousands of failing rows would be tried again and again while newer rows of other funds wait.
 */
const FAILING_BATCH_ROWS = 8;

/**
 * Commits each row in its own transaction, because a single failing row would make a whole batch fail. Works on several
 * wallets at a time, because each row waits for seven calls to nodes. A row that cannot be sent now is postponed.
 * Returns the number of rows, sent or postponed. If a row causes an error, tries the rows of the other wallets before
 * throwing the error.
 */
export async function sendCommits(parts: SolanaParts, rows: readonly SettlementRow[]): Promise<number> {
  const { ctx } = parts;
  await assertMaySend(parts, 'commit', rows);
  await assertVaultsUsable(parts, rows);
  // A wallet's rows are sent in order, so that the oldest row has the first claim on the wallet's allowance.
  const sendWallet = async (own: readonly SettlementRow[]) => {
    let count = 0;
    for (const row of own)
      if (await sendRow(parts, 'commit', row, (tx, id) => submitRows(ctx, tx, id, [row]))) count++;
    return count;
  };
  const wallets = [...groupBy(rows, ({ user }) => user).values()];
  const sent: PromiseSettledResult<number>[] = [];
  const sendNext = async () => {
    for (let own = wallets.shift(); own !== undefined; own = wallets.shift())
      sent.push(...(await Promise.allSettled([sendWallet(own)])));
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_SENDS }, sendNext));
  for (const each of sent) if (each.status === 'rejected') throw each.reason;
  const isAnySent = sent.some((each) => each.status === 'fulfilled' && each.value > 0);
  if (!isAnySent && rows.length >= FAILING_BATCH_ROWS) skipFunds(parts, 'commit', rows);
  return rows.length;
}

async function assertMaySend(
  parts: SolanaParts,
  role: SendingRole,
  rows: readonly SettlementRow[],
): Promise<void> {
  const funds = [...new Set(rows.map(({ fund }) => fund))];
  await Promise.all(funds.map((fund) => readFund(parts, fund)));
  await assertKeyStarted(parts.account, parts.lease(), role, async () => {
    const known = await listFunds(parts.ctx.db, parts.account.chain.name);
    const signers = known.map(({ fund }) => listReceiptSigners(parts, String(fund)));
    return (await Promise.all(signers)).flat();
  });
  await assertReceiptsFunded(parts.account, rows.length);
}

async function assertVaultsUsable(parts: SolanaParts, rows: readonly SettlementRow[]): Promise<void> {
  const vaults = [...new Set(rows.flatMap(({ vault }) => vault ?? []))];
  const accounts = await readTokenAccounts(parts, vaults);
  for (const [i, vault] of vaults.entries())
    if (accounts[i]?.isFrozen !== false)
      throw new Blocked('vault_frozen', `the vault ${vault} is frozen or gone`);
}

/**
 * Sends refunds. Marks a refund as failed if the wallet's account cannot receive it, and postpones it if the vault
 * cannot pay it now.
 */
export async function sendRefunds(parts: SolanaParts, listed: SettlementRow[]): Promise<number> {
  const { ctx } = parts;
  const rows = await skipLanded(parts, 'remit', listed);
  if (rows.length === 0) return listed.length;
  await assertMaySend(parts, 'refund', rows);
  const orders = rows.map((row) => ({ row, order: orderOf('remit', row) }));
  const [vaults, accounts] = await Promise.all([
    readTokenAccounts(
      parts,
      orders.map(({ order }) => order.plan.source),
    ),
    readTokenAccounts(
      parts,
      orders.map(({ order }) => order.plan.destination),
    ),
  ]);
  // What this step has sent from the vault. All rows have the same vault, because they belong to one option, and an
  // offer's vault cannot change once the offer has participations.
  let spent = 0n;
  let sent = 0;
  for (const [i, { row, order }] of orders.entries()) {
    const fault = findRefundFault(row, accounts[i] ?? null);
    if (fault !== null) {
      await failRefund(ctx, row.id, fault);
      continue;
    }
    const blocked = findVaultBlock(row, vaults[i] ?? null, spent);
    if (blocked !== null) {
      const message = `refunds from the vault ${order.vault} wait: ${blocked.message}`;
      await postpone(parts, [row], BLOCKED_REFUND_DELAY_SECONDS, { reason: blocked.reason, message });
      continue;
    }
    if (!(await sendRow(parts, 'remit', row, (tx, id) => submitRefunds(ctx, tx, id, [row])))) continue;
    spent += row.amount;
    sent++;
  }
  if (sent === 0 && rows.length >= FAILING_BATCH_ROWS) skipFunds(parts, 'refund', rows);
  return listed.length;
}

async function readTokenAccounts(
  { account }: SolanaParts,
  addresses: readonly string[],
): Promise<(TokenAccount | null)[]> {
  const found = await readAccounts(account.chain, addresses, { commitment: 'confirmed' });
  return found.map(readTokenAccount);
}

/**
 * Returns why the wallet's associated account cannot receive the refund, or null if it can. The account need not exist
 * yet: the refund creates it.
 */
function findRefundFault({ user, token }: SettlementRow, account: TokenAccount | null): string | null {
  if (account === null) return null;
  if (account.owner !== user || account.mint !== token) return 'refund_account_reowned';
  return account.isFrozen ? 'refund_account_frozen' : null;
}

/** Returns why the vault cannot pay the refund now, or null if it can. */
function findVaultBlock(
  { fund, amount }: SettlementRow,
  vault: TokenAccount | null,
  spent: bigint,
): { reason: BlockedReason; message: string } | null {
  if (vault === null || vault.isFrozen)
    return { reason: 'vault_frozen', message: 'the vault is frozen or gone' };
  const allowance = vault.delegate === fund ? vault.delegatedAmount : 0n;
  const needed = spent + amount;
  const message = (remedy: string) =>
    `the fund may take ${allowance} and the vault holds ${vault.amount}, but the refunds need ${needed} (smallest units); the owner of the vault must ${remedy} more`;
  if (vault.amount < needed) return { reason: 'vault_balance', message: message('deposit') };
  return allowance < needed ? { reason: 'refund_allowance', message: message('approve') } : null;
}

/**
 * Sends one row and returns true. Postpones the row and returns false if a foreign transaction (one that this service
 * did not send) mentions the row, or if the row's own transaction would fail or must not be signed. A later round then
 * reads the accounts again.
 */
async function sendRow(
  parts: SolanaParts,
  kind: 'commit' | 'remit',
  row: SettlementRow,
  apply: Parameters<typeof sendReceipt>[3],
): Promise<boolean> {
  const { ctx, account, lease } = parts;
  await readFund(parts, row.fund);
  if (parts.isForeign(row.id)) {
    const message = `participation ${row.id} waits until an operator adopts a transaction that names it and was not sent by this service`;
    await postpone(parts, [row], FOREIGN_ROW_DELAY_SECONDS, { reason: 'foreign_transaction', message });
    return false;
  }
  try {
    parts.expiries.delete(row.id);
    const isSent = await sendReceipt(account, lease(), orderOf(kind, row), apply);
    if (!isSent) await postponeRows(ctx.db, [row.id], FAILING_ROW_DELAY_SECONDS);
    return isSent;
  } catch (error) {
    if (!(error instanceof SigningRefused || error instanceof SimulationFailed)) throw error;
    await postpone(parts, [row], FAILING_ROW_DELAY_SECONDS, describeFailure(kind, row, error));
    return false;
  }
}

function describeFailure(
  kind: 'commit' | 'remit',
  { id }: SettlementRow,
  error: SigningRefused | SimulationFailed,
): { reason: BlockedReason; message: string } {
  if (error instanceof SigningRefused) return error;
  return {
    reason: 'reverts',
    message: `a ${kind} for participation ${id} would fail: ${JSON.stringify(error.error)}`,
  };
}
