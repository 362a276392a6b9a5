import { receiptAddress } from '../chain/solana/addresses.ts';
import { readAccounts, readEpoch } from '../chain/solana/reads.ts';
import type { Db } from '../db/pool.ts';
import { newId } from '../http/ids.ts';
import { adoptReceipt } from '../operator/adopt-receipt.ts';
import { withLease } from '../operator/lease.ts';
import { isReceiptOf } from '../operator/receipt-follow.ts';
import { changeStatus } from '../participations/status.ts';
import { settleCommit } from './commit-outcome.ts';
import { settleRefund } from './refund-outcome.ts';
import { listReceiptSigners, type SolanaParts } from './solana-parts.ts';
import { assignRefund, type SettlementRow } from './store.ts';

/**
 * Returns the rows that no key of their fund has settled in this direction, and records the others as settled. Receipts are
 * looked up for every key that can sign for the fund: this database may have been restored, and the key may be new.
 */
export async function skipLanded(
  parts: SolanaParts,
  kind: 'commit' | 'remit',
  rows: SettlementRow[],
): Promise<SettlementRow[]> {
  const { account } = parts;
  if (rows.length === 0) return [];
  const candidates = await Promise.all(
    rows.map(async (row) => {
      const signers = await listReceiptSigners(parts, row.fund);
      return signers.map((signer) => ({ row, signer, receipt: receiptAddress(signer, row.id, kind) }));
    }),
  );
  const receipts = candidates.flat();
  const { slot } = await readEpoch(account.chain);
  const addresses = receipts.map(({ receipt }) => receipt);
  const accounts = await readAccounts(account.chain, addresses, { commitment: 'finalized', minSlot: slot });
  const landed = receipts.filter(({ signer }, i) => isReceiptOf(signer, accounts[i] ?? null));
  for (const { row, receipt } of landed) await recordLanded(parts, kind, row, receipt);
  return rows.filter((row) => !landed.some((each) => each.row === row));
}

async function recordLanded(
  { ctx, account, lease }: SolanaParts,
  kind: 'commit' | 'remit',
  row: SettlementRow,
  receipt: string,
): Promise<void> {
  ctx.log.warn(
    { chain: row.chain, participation_id: row.id, kind, receipt },
    'the chain has settled a participation that this database had not sent',
  );
  const outcome = { succeeded: [row.id], failed: [], reason: null };
  const record = async (tx: Db): Promise<void> => {
    const transaction = { id: newId(ctx.clock, ctx.random), kind, receipt, fund: row.fund };
    const id = await adoptReceipt(tx, lease(), transaction);
    if (kind === 'remit') {
      await assignRefund(tx, id, [row.id]);
      return settleRefund(ctx, tx, outcome);
    }
    const change = { ids: [row.id], to: 'submitted' as const, commitId: id };
    await changeStatus(ctx, tx, { ...change, from: ['prepared', 'pending'] });
    await settleCommit(ctx, tx, outcome);
  };
  await withLease(account.db, lease(), record);
}
