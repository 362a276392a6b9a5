import { createHmac, timingSafeEqual } from 'node:crypto';
import Type from 'typebox';
import { unauthorized } from '../../kernel/access.ts';
import { realTime } from '../../kernel/clock.ts';
import type { DocumentSettings } from '../../kernel/config/provider-settings.ts';
import { isId } from '../../kernel/ids.ts';
import { malformedEvent, parseWebhook, type WebhookHeaders } from '../../kernel/model/webhook.ts';
import type { DocumentEvent, SubmissionStatus } from './documents.ts';

const MAX_CLOCK_SKEW_S = 300;

const Text = Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Null()]));
const Id = Type.Integer({ minimum: 1 });

/** The body also contains the form's values, which are ignored and never stored. */
const Event = Type.Object({
  event_type: Type.String({ maxLength: 100 }),
  timestamp: Type.String({ maxLength: 100 }),
  data: Type.Object({
    id: Type.Optional(Id),
    submission_id: Type.Optional(Id),
    external_id: Text,
    completed_at: Text,
    submitters: Type.Optional(Type.Array(Type.Object({ external_id: Text, completed_at: Text }))),
  }),
});

const STATUSES = new Map<string, SubmissionStatus>([
  ['form.viewed', 'VIEWED'],
  ['form.started', 'VIEWED'],
  ['form.completed', 'COMPLETED'],
  ['form.declined', 'DECLINED'],
  ['submission.completed', 'COMPLETED'],
  ['submission.expired', 'EXPIRED'],
  ['submission.archived', 'EXPIRED'],
]);

export function readDocusealWebhook(
  settings: Pick<DocumentSettings, 'webhookSecrets' | 'webhookHeader'>,
  headers: WebhookHeaders,
  body: Buffer,
): DocumentEvent {
  if (!isAuthentic(settings, headers, body)) throw unauthorized();
  const { event_type, timestamp, data } = parseWebhook(Event, body);
  const isForm = event_type.startsWith('form.');
  const [submitter] = data.submitters ?? [];
  const externalId = (isForm ? data.external_id : submitter?.external_id) ?? null;
  const status = STATUSES.get(event_type) ?? null;
  const signedAt = Date.parse((isForm ? data.completed_at : submitter?.completed_at) ?? timestamp);
  if (Number.isNaN(signedAt)) throw malformedEvent();
  return {
    key: JSON.stringify([event_type, data.id ?? null, timestamp]),
    externalId: externalId !== null && isId(externalId) ? externalId : null,
    submissionId: (isForm ? data.submission_id : data.id) ?? null,
    status,
    completedAt: status === 'COMPLETED' ? signedAt : null,
  };
}

/**
 * Checks whether a webhook is authentic. If `webhookSecrets` is not empty, requires a valid signature, and does not
 * accept `webhookHeader` instead, so that nobody can use that header to bypass the signature. Otherwise requires
 * `webhookHeader`.
 */
function isAuthentic(
  { webhookSecrets, webhookHeader }: Pick<DocumentSettings, 'webhookSecrets' | 'webhookHeader'>,
  headers: WebhookHeaders,
  body: Buffer,
): boolean {
  if (webhookSecrets.length > 0)
    return webhookSecrets.some((secret) =>
      verifySignature(secret, headers['x-docuseal-signature'], body, realTime()),
    );
  const given = webhookHeader === null ? undefined : headers[webhookHeader.name];
  return webhookHeader !== null && typeof given === 'string' && isSame(given, webhookHeader.value);
}

/**
 * Verifies a signature of the form `{unix}.{hex}`. The signed time must be close to `now`, so that nobody can replay an
 * old request.
 */
export function verifySignature(
  secret: string,
  header: string | string[] | undefined,
  body: Buffer,
  now: number,
): boolean {
  const match = /^(\d{1,12})\.([0-9a-f]{64})$/.exec(typeof header === 'string' ? header : '');
  if (match === null) return false;
  const [, seconds = '', digest = ''] = match;
  if (Math.abs(now / 1000 - Number(seconds)) > MAX_CLOCK_SKEW_S) return false;
  const expected = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
  return isSame(digest, expected);
}

/** Compares two strings in constant time. Compares their hashes, because `timingSafeEqual` requires equal lengths. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
