import { newId } from '../../kernel/ids.ts';
import { receiptAddress } from '../../platform/chain/solana/addresses.ts';
import { providerViews, type SolanaChain } from '../../platform/chain/solana/client.ts';
import { readAccounts, readEpoch } from '../../platform/chain/solana/reads.ts';
import type { Db } from '../../platform/db/pool.ts';
import { withLease } from '../../platform/operator/lease.ts';
import { isReceiptOf } from '../../platform/operator/receipt-follow.ts';
import { adoptReceipt } from '../../platform/operator/receipt-store.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { mayEnd } from './agreement.ts';
import { settleCommit } from './commit-outcome.ts';
import { settleRefund } from './refund-outcome.ts';
import { listReceiptSigners, type SolanaParts } from './solana-parts.ts';
import { assignRefund, postponeRows, type SettlementRow } from './store.ts';

const DISPUTED_ROW_DELAY_SECONDS = 15;

/**
 * Checks which rows are already settled on chain (refunded if `kind` is `remit`, otherwise committed). Records those
 * rows as settled and returns the others. Looks up the receipts of every key that can sign for the fund, because the
 * database may have been restored, and an earlier key may have settled the row.
 *
 * For a large amount, two providers must show the receipt. If only one does, the row waits: it is neither recorded nor
 * returned.
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
  const landed = await filterLanded(account.chain, candidates.flat());
  for (const each of landed) {
    const { row, receipt } = each;
    const judge = async (view: SolanaChain) =>
      (await filterLanded(view, [each])).length > 0 ? 'landed' : 'missing';
    if (await mayEnd(parts, providerViews(account.chain), [row], 'landed', judge))
      await recordLanded(parts, kind, row, receipt);
    else await postponeRows(parts.ctx.db, [row.id], DISPUTED_ROW_DELAY_SECONDS);
  }
  return rows.filter((row) => !landed.some((each) => each.row === row));
}

/** Returns the elements of `receipts` that exist on chain and are finalized. */
async function filterLanded<R extends { signer: string; receipt: string }>(
  chain: SolanaChain,
  receipts: readonly R[],
): Promise<R[]> {
  const { slot } = await readEpoch(chain);
  const addresses = receipts.map(({ receipt }) => receipt);
  const accounts = await readAccounts(chain, addresses, { commitment: 'finalized', minSlot: slot });
  return receipts.filter(({ signer }, i) => isReceiptOf(signer, accounts[i] ?? null));
}

async function recordLanded(
  { ctx, account, lease }: SolanaParts,
  kind: 'commit' | 'remit',
  row: SettlementRow,
  receipt: string,
): Promise<void> {
  ctx.log.warn(
    { chain: row.chain, participation_id: row.id, kind, receipt },
    'participation was settled on chain by a transaction that is not in the database',
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
