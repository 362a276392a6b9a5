import { ApiError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import { type ApprovalReader, inspectApprovals, type RequiredApproval } from './approval.ts';
import { readSharedAllowance, type SharedAllowance } from './shared-allowance.ts';

/**
 * The initial status of a participation, the token account that was approved, and the allowance that a `pending`
 * participation shares with others.
 */
type JudgedApproval = {
  status: 'pending' | 'prepared';
  source_address: string | null;
  shared: SharedAllowance | null;
};

/** Judges the approval of a new participation. Throws if the approval cannot become valid. */
export async function judgeApproval(
  { db }: Context,
  reader: ApprovalReader,
  chain: string,
  required: RequiredApproval,
): Promise<JudgedApproval> {
  const [finding] = await inspectApprovals(reader, [required]);
  if (finding?.state === 'wrong') throw new ApiError('approval_invalid', { reason: finding.reason });
  if (finding?.state === 'unreadable') throw finding.error;
  if (finding?.state === 'short') throw new ApiError(finding.shortage.code, finding.shortage.details);
  const prepared = { status: 'prepared', source_address: null, shared: null } as const;
  if (finding?.state !== 'good') return prepared;
  const shared = await readSharedAllowance(db, reader, chain, required, finding);
  return shared === null ? prepared : { status: 'pending', source_address: finding.source, shared };
}
