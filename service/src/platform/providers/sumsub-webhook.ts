import Type from 'typebox';
import { unauthorized } from '../../kernel/access.ts';
import { malformedEvent, parseWebhook, type WebhookHeaders } from '../../kernel/model/webhook.ts';
import type { EventEffect, IdentityEvent } from './identity.ts';
import { ReviewResult, readTime, toReview } from './sumsub-applicant.ts';
import { verifyDigest } from './sumsub-signature.ts';

const Text = Type.Optional(Type.Union([Type.String({ maxLength: 512 }), Type.Null()]));

const TypedEvent = Type.Object({ type: Type.String({ maxLength: 100 }) });

const Payload = Type.Object({
  type: Type.String({ maxLength: 100 }),
  applicantId: Type.String({ pattern: '^[0-9a-zA-Z]{1,64}$' }),
  correlationId: Text,
  externalUserId: Text,
  levelName: Text,
  applicantType: Text,
  sandboxMode: Type.Optional(Type.Boolean()),
  testMode: Type.Optional(Type.Unknown()),
  reviewStatus: Text,
  reviewResult: Type.Optional(ReviewResult),
  createdAt: Text,
  createdAtMs: Text,
  applicantMemberOf: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Null()])),
});

const EFFECTS = new Map<string, EventEffect>([
  ['applicantCreated', 'review'],
  ['applicantPending', 'review'],
  ['applicantPrechecked', 'review'],
  ['applicantReviewed', 'review'],
  ['applicantOnHold', 'review'],
  ['applicantAwaitingUser', 'review'],
  ['applicantAwaitingService', 'review'],
  ['applicantLevelChanged', 'review'],
  ['applicantReset', 'review'],
  ['applicantStepsReset', 'review'],
  ['applicantPersonalInfoChanged', 'read'],
  ['applicantWorkflowCompleted', 'read'],
  ['applicantWorkflowFailed', 'read'],
  ['applicantActivated', 'activated'],
  ['applicantDeactivated', 'deactivated'],
  ['applicantPersonalDataDeleted', 'data_deleted'],
  ['applicantDeleted', 'deleted'],
]);

/**
 * Reads a signed event. Returns null for an event whose type has no effect, whatever the other fields contain: the
 * provider also sends events that are not about applicants, and disables a webhook whose events are refused.
 */
export function readSumsubWebhook(
  secrets: readonly string[],
  headers: WebhookHeaders,
  body: Buffer,
): IdentityEvent | null {
  const header = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined);
  if (!verifyDigest(secrets, header('x-payload-digest-alg'), header('x-payload-digest'), body))
    throw unauthorized();
  const effect = EFFECTS.get(parseWebhook(TypedEvent, body).type);
  if (effect === undefined) return null;
  const payload = parseWebhook(Payload, body);
  const { type, applicantId, applicantType, correlationId, reviewStatus } = payload;
  const at = readTime(payload.createdAtMs ?? undefined) ?? readTime(payload.createdAt ?? undefined);
  if (at === null) throw malformedEvent();
  // The status decides, not the answer: after a reset, an event may have the status `init` but still contain the old
  // answer.
  const review = toReview(payload.levelName ?? '', reviewStatus ?? undefined, payload.reviewResult, at);
  return {
    key: JSON.stringify([
      type,
      applicantId,
      correlationId ?? null,
      payload.createdAtMs ?? at,
      reviewStatus ?? null,
    ]),
    effect,
    applicantId,
    userId: payload.externalUserId ?? null,
    kind: applicantType === 'company' ? 'company' : applicantType === 'individual' ? 'person' : null,
    isMember: (payload.applicantMemberOf ?? []).length > 0,
    isSandbox: payload.sandboxMode === true,
    isTest: payload.testMode !== undefined && payload.testMode !== false,
    review,
    at,
  };
}
