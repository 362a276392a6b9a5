import { findUser } from '../accounts/user.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import { timestampOf } from '../http/wire.ts';
import { invalidResponse, upstreamFailureOf } from '../outbound/failure.ts';
import { type Claim, claimSubmission, type Request } from './claim.ts';
import type { FormValues, Signing } from './provider.ts';
import type { DocumentSubmission } from './schema.ts';
import { advanceSubmission, claimResend, type SubmissionRow, withdrawSubmission } from './store.ts';
import { refuseUnitedStates } from './us-person.ts';
import { FORM_OF_KIND } from './validity.ts';

const LONG_AGO = '2000-01-01T00:00:00.000000Z';

export const DOCUMENT_TYPES: readonly string[] = ['tax_certification'];

/**
 * Has the form sent, sends the link again, or starts over, as the state of the last form allows. Whatever races, one
 * caller decides at a time (`claim.ts`) and one mail leaves a minute. An answer that was lost is looked for by our own
 * id before anything is created again.
 */
export async function submitDocument(
  ctx: Context,
  { userId }: UserCaller,
  documentType: string,
  values: FormValues,
): Promise<DocumentSubmission> {
  if (!DOCUMENT_TYPES.includes(documentType)) throw new ApiError('not_found');
  const user = await findUser(ctx.db, userId);
  if (user === undefined) throw new ApiError('not_found');
  const piiVersion = await refuseUnitedStates(ctx, userId, values);
  const request: Request = {
    userId,
    kind: user.kind,
    email: user.email,
    documentType,
    formType: FORM_OF_KIND[user.kind],
    piiVersion,
    values,
  };
  // The provider may know that the last form is over when we do not yet: then the second claim starts a new one.
  for (let round = 0; round < 2; round++) {
    const claim = await claimSubmission(ctx, request);
    const signing = await actOn(ctx, request, claim);
    const isOver = signing.status === 'DECLINED' || signing.status === 'EXPIRED';
    if (isOver || signing.status === 'COMPLETED') await saveSigning(ctx, claim.row.id, signing);
    if (signing.status === 'COMPLETED') throw new ApiError('document_completed');
    if (!isOver) return commitSigning(ctx, claim.row.id, signing);
  }
  throw invalidResponse('documents', 'a form that is over as soon as it is sent');
}

async function actOn(
  ctx: Context,
  request: Request,
  { step, row, previousClaim, retryAfter }: Claim,
): Promise<Signing> {
  switch (step) {
    case 'create':
      return create(ctx, request, row);
    case 'wait':
      return lookInstead(ctx, row, retryAfter);
    case 'resend':
      return resend(ctx, request, row, previousClaim);
  }
}

async function create(
  ctx: Context,
  { formType, email, values }: Request,
  row: SubmissionRow,
): Promise<Signing> {
  try {
    const expiresAt = Date.parse(row.expires_at);
    const created = await ctx.documents.create({ externalId: row.id, formType, email, values, expiresAt });
    if (!('refused' in created)) return created;
    await withdrawSubmission(ctx.db, row.id);
    if (created.refused === 'values')
      throw new ApiError('validation_failed', {
        body: ['the signing provider refused what the form is filled with'],
      });
    throw invalidResponse('documents', 'the form cannot be created as it is set up');
  } catch (error) {
    const failure = upstreamFailureOf(error);
    if (failure?.kind === 'not_sent' || failure?.kind === 'rate_limited')
      await withdrawSubmission(ctx.db, row.id);
    if (failure?.kind !== 'no_response' && failure?.kind !== 'invalid_response') throw error;
    // Nobody knows whether the mail went out. Where that cannot be found out now, the reconciler will.
    const found = await ctx.documents.find(row.id).catch(() => null);
    if (found !== null) return found;
    // While the other end may still be at it nobody tries again; otherwise the next post looks first, and at once.
    if (!failure.timedOut) await giveBack(ctx, row, LONG_AGO);
    throw error;
  }
}

/** Too early for another mail; but when the answer about the last one was lost, it may be found by now. */
async function lookInstead(ctx: Context, row: SubmissionRow, retryAfter: number): Promise<Signing> {
  const found =
    row.provider_submission_id === null ? await ctx.documents.find(row.id).catch(() => null) : null;
  // What is not sent yet is somebody's who is at it.
  if (found !== null && found.status !== 'INITIALIZED') return found;
  throw new ApiError('rate_limited', {}, { headers: { 'retry-after': String(retryAfter) } });
}

async function resend(
  ctx: Context,
  request: Request,
  row: SubmissionRow,
  previousClaim: string,
): Promise<Signing> {
  try {
    const current =
      row.provider_submission_id === null
        ? await ctx.documents.find(row.id)
        : await ctx.documents.read(Number(row.provider_submission_id));
    if (current === null) return await create(ctx, request, row);
    if (current.status !== 'INITIALIZED' && current.status !== 'SENT' && current.status !== 'VIEWED')
      return current;
    if (await ctx.documents.resend(current.submitterId, request.values)) return current;
    return await ctx.documents.read(current.submissionId);
  } catch (error) {
    const kind = upstreamFailureOf(error)?.kind;
    if (kind === 'not_sent' || kind === 'rate_limited') await giveBack(ctx, row, previousClaim);
    throw error;
  }
}

/** No mail went out, so the next attempt need not wait. */
async function giveBack(ctx: Context, row: SubmissionRow, claimed_at: string): Promise<void> {
  const updated_at = timestampOf(ctx.clock);
  await claimResend(ctx.db, row.id, { claimed_at, pii_version: row.pii_version, updated_at });
}

async function saveSigning(ctx: Context, id: string, signing: Signing): Promise<void> {
  await ctx.db.transaction().execute((tx) => advanceSubmission(tx, id, signing, timestampOf(ctx.clock)));
}

async function commitSigning(ctx: Context, id: string, signing: Signing): Promise<DocumentSubmission> {
  return ctx.commitReply(async (tx) => {
    const row = await advanceSubmission(tx, id, signing, timestampOf(ctx.clock));
    if (row === undefined) throw new Error('a submission vanished while it was sent');
    return { object: 'document_submission' as const, form_type: row.form_type, status: row.status };
  });
}
