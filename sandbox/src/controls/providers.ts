import { findUserByEmail } from '@causeway/service/accounts/user.ts';
import type { Config } from '@causeway/service/config.ts';
import type { Context } from '@causeway/service/context.ts';
import { DOCUMENT_TYPES } from '@causeway/service/documents/submission.ts';
import { ApiError, invalidField } from '@causeway/service/errors.ts';
import { publicRoute } from '@causeway/service/http/route.ts';
import { Closed, Email, ObjectName } from '@causeway/service/http/wire.ts';
import { LEVELS, REVIEW_STATUSES } from '@causeway/service/identity/provider.ts';
import { settleApplicant } from '@causeway/service/identity/reconcile.ts';
import Type from 'typebox';
import { DOCUMENT_ACTIONS } from '../simulators/documents/controls.ts';
import { Person } from '../simulators/identity/people.ts';
import type { Simulators } from '../simulators/start.ts';
import type { ControlGroup } from '../start.ts';
import { passErrors } from './pass-errors.ts';

/** What an operator would set, unless the operator has set something else. */
export function providerSettings(config: Config, { identity, documents }: Simulators): Partial<Config> {
  return {
    identity: config.identity ?? {
      url: identity.url,
      appToken: identity.app_token,
      secret: identity.secret,
      webhookSecrets: [identity.webhook_secret],
    },
    documents: config.documents ?? {
      url: documents.url,
      apiKey: documents.api_key,
      templates: documents.templates,
      webhookSecrets: [documents.webhook_secret],
      webhookHeader: null,
      linkDays: 30,
    },
  };
}

export const rememberCountry =
  ({ control }: Simulators) =>
  async ({ id, country }: { id: string; country: string | null }) =>
    country === null ? undefined : control.call('identity/country', { user_id: id, country });

export async function documentMails({ control }: Simulators) {
  const { mails } = await control.call('documents/mails', {});
  return mails.map(({ to, subject, link, at }) => ({
    to,
    subject,
    text: `Please read and sign the form:\n\n${link}\n`,
    sent_at: `${at.slice(0, -1)}000Z`,
  }));
}

/** The providers of identity and signatures: where they are, and what moves them. */
export async function providersShare(
  ctx: Context,
  { control, identity, documents }: Simulators,
): Promise<ControlGroup> {
  await control.call('identity/webhook', { url: `${ctx.baseUrl}/webhooks/identity` });
  await control.call('documents/webhook', { url: `${ctx.baseUrl}/webhooks/documents` });
  return {
    overview: () => ({
      identity_flow_url: `${identity.url}/flow?token={kyc_token}`,
      signing_mails_url: documents.page_url,
    }),
    routes: [reviewRoute(control), documentRoute(control)],
    faults: new Map([
      ['identity', (mode, for_seconds) => control.call('identity/fault', fault(mode, for_seconds))],
      ['documents', (mode, for_seconds) => control.call('documents/fault', fault(mode, for_seconds))],
    ]),
  };
}

function fault<M>(mode: M, for_seconds: number | undefined) {
  return { mode, ...(for_seconds !== undefined && { for_seconds }) };
}

function reviewRoute(control: Simulators['control']) {
  return publicRoute({
    method: 'POST',
    path: '/sandbox/identity/reviews',
    operationId: 'moveReview',
    summary: "Decides a user's identity review, as the provider's officers would",
    description: 'Answers once the service has applied it. Without `pii` somebody made up is verified.',
    body: Closed({
      email: Email,
      level_name: Type.Enum([...LEVELS]),
      review_status: Type.Optional(Type.Enum([...REVIEW_STATUSES])),
      answer: Type.Optional(Type.Enum(['GREEN', 'RED'])),
      reject_type: Type.Optional(Type.Enum(['RETRY', 'FINAL'])),
      pii: Type.Optional(Person),
    }),
    reply: Closed({
      object: ObjectName('identity_review'),
      applicant_id: Type.String(),
      level_name: Type.String(),
      review_status: Type.String(),
    }),
    errors: ['not_found', 'validation_failed', 'upstream_unavailable'],
    handle: async (ctx, _caller, { body: { email, ...review } }) => {
      const user = await findUserByEmail(ctx.db, email);
      if (user === undefined)
        throw new ApiError('not_found', {}, { message: 'There is no user with this address.' });
      const { id: user_id, kind } = user;
      const moved = await passErrors(control.call('identity/review', { user_id, kind, email, ...review }));
      if (moved.delivered) await settleApplicant(ctx, user_id);
      return {
        object: 'identity_review' as const,
        applicant_id: moved.applicant_id,
        level_name: review.level_name,
        review_status: review.review_status ?? 'completed',
      };
    },
  });
}

function documentRoute(control: Simulators['control']) {
  return publicRoute({
    method: 'POST',
    path: '/sandbox/documents/actions',
    operationId: 'actOnDocument',
    summary: 'Does with the last form that was sent to a user what the user would',
    body: Closed({
      email: Email,
      document_type: Type.Enum([...DOCUMENT_TYPES]),
      action: Type.Enum([...DOCUMENT_ACTIONS]),
    }),
    reply: Closed({
      object: ObjectName('document_submission'),
      form_type: Type.String(),
      status: Type.String(),
    }),
    errors: ['not_found', 'validation_failed'],
    handle: async (ctx, _caller, { body: { email, document_type, action } }) => {
      const submission = await findLast(ctx, email, document_type);
      await passErrors(control.call('documents/act', { external_id: submission.id, action }));
      const { form_type, status } = await findLast(ctx, email, document_type);
      return { object: 'document_submission' as const, form_type, status };
    },
  });
}

async function findLast(ctx: Context, email: string, documentType: string) {
  const user = await findUserByEmail(ctx.db, email);
  if (user === undefined)
    throw new ApiError('not_found', {}, { message: 'There is no user with this address.' });
  const row = await ctx.db
    .selectFrom('document_submissions')
    .select(['id', 'form_type', 'status'])
    .where('user_id', '=', user.id)
    .where('document_type', '=', documentType)
    .orderBy('attempt', 'desc')
    .executeTakeFirst();
  if (row === undefined) throw invalidField('document_type', 'no form of this type was sent to the user');
  return row;
}
