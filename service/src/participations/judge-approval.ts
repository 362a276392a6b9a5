import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { OfferContract } from '../offers/stored-offer.ts';
import { type ApprovalReader, inspectApprovals, type RequiredApproval } from './approval.ts';
import { inspectFunds } from './funds.ts';
import { listUnsettledOfSource } from './store.ts';

/** The initial status of a participation, and the token account that was approved. */
type JudgedApproval = { status: 'pending' | 'prepared'; source_address: string | null };

/** Judges the approval of a new participation. Throws if the approval cannot become valid. */
export async function judgeApproval(
  ctx: Context,
  reader: ApprovalReader,
  contract: OfferContract,
  required: RequiredApproval,
): Promise<JudgedApproval> {
  const [finding] = await inspectApprovals(reader, [required]);
  if (finding?.state === 'wrong') throw new ApiError('approval_invalid', { reason: finding.reason });
  if (finding?.state === 'unreadable') throw finding.error;
  if (finding?.state === 'short') throw new ApiError(finding.shortage.code, finding.shortage.details);
  if (finding?.state !== 'good') return { status: 'prepared', source_address: null };
  const { source } = finding;
  if (source !== null) await assertCoversAll(ctx, reader, contract, { ...required, source });
  return { status: 'pending', source_address: source };
}

/**
 * Throws `insufficient_allowance` unless the approval covers all unsettled participations from the same token account,
 * including the new one. On Solana, a new approval replaces the previous one, so the new approval has to cover all
 * these participations.
 */
async function assertCoversAll(
  { db }: Context,
  reader: ApprovalReader,
  { chain }: OfferContract,
  required: RequiredApproval & { source: string },
): Promise<void> {
  const rows = await listUnsettledOfSource(db, chain, required.source);
  if (rows.length === 0) return;
  const landed = await reader.listLanded(rows.flatMap(({ receipt }) => receipt ?? []));
  const open = rows.filter(({ receipt }) => receipt === null || !landed.has(receipt));
  const amount = open.reduce((sum, row) => sum + row.amount, required.amount);
  const [finding] = await inspectFunds(reader, [{ ...required, amount }], 0n);
  if (finding?.state === 'short' && finding.shortage.code === 'insufficient_allowance')
    throw new ApiError(finding.shortage.code, finding.shortage.details);
}
