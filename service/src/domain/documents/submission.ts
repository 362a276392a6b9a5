import type { UserCaller } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import { timestampOf } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import { invalidResponse, upstreamFailureOf } from '../../platform/outbound/failure.ts';
import { type FormValues, isOpen, type Signing } from '../../platform/providers/documents.ts';
import { FORM_OF_KIND } from '../requirements/validity.ts';
import { findUser } from '../users/store.ts';
import { normalizeEmail } from '../users/user.ts';
import { type Claim, claimSubmission, type SubmissionRequest } from './claim.ts';
import { assertNotUnitedStates, assertNoUrls } from './form-values.ts';
import type { DocumentSubmission } from './schema.ts';
import { changeSubmission } from './status.ts';
import {
  addFormToArchive,
  claimResend,
  type SubmissionRow,
  setPiiVersion,
  withdrawSubmission,
} from './store.ts';

/** A claim time far enough in the past that the next attempt does not have to wait. */
const LONG_AGO = '2000-01-01T00:00:00.000000Z';

export const DOCUMENT_TYPES: readonly string[] = ['tax_certification'];

/**
 * Emails the user a link to sign a form, at most once per minute. If the latest form is still open and was sent to the
 * user's current address, resends its link; otherwise starts a new form. Throws `document_completed` if the latest form
 * is signed and still valid.
 *
 * A lock makes concurrent requests decide one at a time (`claim.ts`). If the provider's response to an earlier request
 * was lost, looks the submission up by our id before creating another one.
 */
export async function submitDocument(
  ctx: Context,
  { userId }: UserCaller,
  documentType: string,
  values: FormValues,
): Promise<DocumentSubmission> {
  if (!DOCUMENT_TYPES.includes(documentType)) throw new ApiError('not_found');
  assertNoUrls(values);
  const user = await findUser(ctx.db, userId);
  if (user === undefined) throw new ApiError('not_found');
  const piiVersion = await assertNotUnitedStates(ctx, userId, values);
  const request: SubmissionRequest = {
    userId,
    kind: user.kind,
    email: user.email,
    documentType,
    formType: FORM_OF_KIND[user.kind],
    piiVersion,
    values,
  };
  // The latest form may have been closed or signed without our knowledge. If so, the second attempt starts a new form,
  // or throws because the signed form is still valid.
  for (let attempt = 0; attempt < 2; attempt++) {
    const claim = await claimSubmission(ctx, request);
    const signing = await runStep(ctx, request, claim);
    if (signing === null) return toReply(claim.row);
    if (isOpen(signing.status)) return commitOpen(ctx, claim.row.id, signing);
    await saveSigning(ctx, claim.row.id, signing);
  }
  throw invalidResponse('documents', 'a form that was only just created is already closed');
}

/** Returns null if there is nothing new to store. Only the step `wait` can return null. */
async function runStep(
  ctx: Context,
  request: SubmissionRequest,
  { step, row, previousClaim }: Claim,
): Promise<Signing | null> {
  switch (step) {
    case 'create':
      return create(ctx, request, row);
    case 'wait':
      return findLostSigning(ctx, row);
    case 'resend':
      return resend(ctx, request, row, previousClaim);
  }
}

async function create(
  ctx: Context,
  { formType, email, values }: SubmissionRequest,
  row: SubmissionRow,
): Promise<Signing> {
  try {
    const expiresAt = Date.parse(row.expires_at);
    const created = await ctx.documents.create({ externalId: row.id, formType, email, values, expiresAt });
    if (!('refused' in created)) return created;
    await withdrawSubmission(ctx.db, row.id);
    if (created.refused === 'values')
      throw new ApiError('validation_failed', {
        body: ['the signing provider rejected the form values'],
      });
    throw invalidResponse(
      'documents',
      'create submission: rejected because of our settings, such as the template or the API key',
    );
  } catch (error) {
    const failure = upstreamFailureOf(error);
    if (failure?.kind === 'not_sent' || failure?.kind === 'rate_limited')
      await withdrawSubmission(ctx.db, row.id);
    if (failure?.kind !== 'no_response' && failure?.kind !== 'invalid_response') throw error;
    // The call failed, but the provider may still have created the submission and sent the email. If this lookup fails
    // too, the reconciler repeats it later.
    const found = await ctx.documents.find(row.id).catch(() => null);
    if (found !== null) return found;
    // After a timeout, the provider may still be working on the call, so the claim stays. After any other failure,
    // releases the claim, so that the next request can retry at once. That request looks the submission up first.
    if (!failure.timedOut) await releaseClaim(ctx, row, LONG_AGO);
    throw error;
  }
}

/**
 * Looks up the submission if the provider's response to an earlier request was lost. Returns null if nothing was lost,
 * if the lookup fails or finds nothing, or if another request is still creating the submission (the email has not been
 * sent yet).
 */
async function findLostSigning(ctx: Context, row: SubmissionRow): Promise<Signing | null> {
  if (row.provider_submission_id !== null) return null;
  const found = await ctx.documents.find(row.id).catch(() => null);
  return found?.status === 'INITIALIZED' ? null : found;
}

async function resend(
  ctx: Context,
  request: SubmissionRequest,
  row: SubmissionRow,
  previousClaim: string,
): Promise<Signing> {
  try {
    const current =
      row.provider_submission_id === null
        ? await ctx.documents.find(row.id)
        : await ctx.documents.read(Number(row.provider_submission_id));
    // The stored version of the personal data changes only together with the form values at the provider: the user may
    // sign the values of an earlier request, even after this one failed.
    if (current === null) {
      await setPiiVersion(ctx.db, row.id, request.piiVersion);
      return await create(ctx, request, row);
    }
    if (!isOpen(current.status)) return current;
    // The link is in the mailbox of a former address. Whoever reads that mailbox must not see or sign the form, so a
    // new form replaces it.
    if (current.email !== null && normalizeEmail(current.email) !== normalizeEmail(request.email))
      return { ...current, status: 'EXPIRED' };
    if (await ctx.documents.resend(current.submitterId, request.values)) {
      await setPiiVersion(ctx.db, row.id, request.piiVersion);
      return current;
    }
    return await ctx.documents.read(current.submissionId);
  } catch (error) {
    const kind = upstreamFailureOf(error)?.kind;
    if (kind === 'not_sent' || kind === 'rate_limited') await releaseClaim(ctx, row, previousClaim);
    throw error;
  }
}

/** Resets the claim time, so that the next attempt does not have to wait. */
async function releaseClaim(ctx: Context, row: SubmissionRow, claimed_at: string): Promise<void> {
  const updated_at = timestampOf(ctx.clock);
  await claimResend(ctx.db, row.id, { claimed_at, updated_at });
}

async function saveSigning(ctx: Context, id: string, signing: Signing): Promise<void> {
  await ctx.db.transaction().execute((tx) => changeSubmission(ctx, tx, id, signing));
}

/** If we closed the form in the meantime, for example because the user was erased, the reconciler archives it. */
function commitOpen(ctx: Context, id: string, signing: Signing): Promise<DocumentSubmission> {
  return ctx.commitReply(async (tx) => {
    const row = await changeSubmission(ctx, tx, id, signing);
    if (row === undefined) throw new Error('submission deleted while its request was running');
    if (row.status === 'EXPIRED') await addFormToArchive(tx, id);
    return toReply(row);
  });
}

function toReply({ form_type, status }: SubmissionRow): DocumentSubmission {
  return { object: 'document_submission', form_type, status };
}
