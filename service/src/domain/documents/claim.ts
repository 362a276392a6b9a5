import { ApiError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { UserKind } from '../../kernel/model/personal-data.ts';
import { timestampOf, toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { type FormType, type FormValues, isOpen } from '../../platform/providers/documents.ts';
import { isValidForm } from '../requirements/validity.ts';
import { shareAccount } from '../users/account.ts';
import { archiveForm, changeSubmission, reportSubmission } from './status.ts';
import { claimResend, insertSubmission, lockLatest, type SubmissionRow } from './store.ts';

export type SubmissionRequest = {
  userId: string;
  kind: UserKind;
  email: string;
  documentType: string;
  formType: FormType;
  piiVersion: number;
  values: FormValues;
};

/**
 * What a caller must do next with a form. The first caller gets `create` or `resend`, and makes the provider send an
 * email. For the next minute, all other callers get `wait`, and cause no email. If the first caller releases its claim,
 * the minute ends early.
 */
export type Claim = { step: 'create' | 'resend' | 'wait'; row: SubmissionRow; previousClaim: string };

const RESEND_INTERVAL_MS = 60_000;
const DAY_MS = 86_400_000;
/** If the provider has not responded to a new submission by then, its response counts as lost. */
const RECONCILE_AFTER = '1 minute';

/**
 * Decides, under a lock, what to do with the user's latest form. Throws `document_completed` if the form is signed and
 * still valid, and `unauthorized` if the user was erased while the request was running.
 */
export async function claimSubmission(ctx: Context, request: SubmissionRequest): Promise<Claim> {
  const { claim, replaced } = await ctx.db.transaction().execute(async (tx) => {
    await shareAccount(tx, request.userId);
    const latest = await lockLatest(tx, request.userId, request.documentType);
    if (latest !== undefined && isOpen(latest.status)) {
      if (Date.parse(latest.expires_at) > ctx.clock.now() && latest.form_type === request.formType)
        return { claim: await claimOpen(ctx, tx, latest), replaced: undefined };
      await changeSubmission(ctx, tx, latest.id, { status: 'EXPIRED', completedAt: null });
    }
    if (latest !== undefined && isStillValid(ctx, request, latest)) throw new ApiError('document_completed');
    return {
      claim: await claimNew(ctx, tx, request, (latest?.attempt ?? 0) + 1),
      replaced: latest?.status === 'COMPLETED' ? undefined : latest,
    };
  });
  // Keeps the user from signing the replaced form. If this fails, the reconciler repeats it.
  if (replaced !== undefined) await archiveForm(ctx, replaced).catch(() => {});
  return claim;
}

function isStillValid(ctx: Context, { kind, piiVersion }: SubmissionRequest, row: SubmissionRow): boolean {
  if (row.status !== 'COMPLETED' || row.completed_at === null) return false;
  const form = {
    formType: row.form_type,
    signedAt: Date.parse(row.completed_at),
    piiVersion: row.pii_version,
  };
  return isValidForm(form, { kind, piiVersion, now: ctx.clock.now() });
}

async function claimOpen(ctx: Context, tx: Db, row: SubmissionRow): Promise<Claim> {
  const previousClaim = row.claimed_at;
  if (ctx.clock.now() < Date.parse(previousClaim) + RESEND_INTERVAL_MS)
    return { step: 'wait', row, previousClaim };
  const now = timestampOf(ctx.clock);
  await claimResend(tx, row.id, { claimed_at: now, updated_at: now });
  return { step: 'resend', row, previousClaim };
}

async function claimNew(ctx: Context, tx: Db, request: SubmissionRequest, attempt: number): Promise<Claim> {
  const now = timestampOf(ctx.clock);
  const linkDays = ctx.config.documents?.linkDays ?? 30;
  const values = {
    id: newId(ctx.clock, ctx.random),
    user_id: request.userId,
    document_type: request.documentType,
    attempt,
    form_type: request.formType,
    status: 'INITIALIZED' as const,
    provider_submission_id: null,
    provider_submitter_id: null,
    pii_version: request.piiVersion,
    expires_at: toTimestamp((Math.floor(ctx.clock.now()) + linkDays * DAY_MS) * 1000),
    completed_at: null,
    claimed_at: now,
    lease_until: null,
    inserted_at: now,
    updated_at: now,
  };
  const row = await insertSubmission(tx, values, RECONCILE_AFTER);
  await reportSubmission(ctx, tx, row, null);
  return { step: 'create', row, previousClaim: now };
}
