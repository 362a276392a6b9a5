import { createHmac, timingSafeEqual } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { realTime } from '../clock.ts';
import type { DocumentSettings } from '../config/provider-settings.ts';
import { ApiError } from '../errors.ts';
import { unauthorized } from '../http/access.ts';
import { isId } from '../http/ids.ts';
import { isValid } from '../http/validation.ts';
import type { WebhookHeaders } from '../identity/provider.ts';
import type { DocumentEvent, SubmissionStatus } from './provider.ts';

const TOLERANCE = 300;

const Text = Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Null()]));
const Id = Type.Integer({ minimum: 1 });

/** The rest of a body is the filled form: it is neither named here nor kept anywhere. */
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
type Event = Static<typeof Event>;

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
  if (!isGenuine(settings, headers, body)) throw unauthorized();
  const { event_type, timestamp, data } = parse(body);
  const isForm = event_type.startsWith('form.');
  const [submitter] = data.submitters ?? [];
  const externalId = (isForm ? data.external_id : submitter?.external_id) ?? null;
  const status = STATUSES.get(event_type) ?? null;
  const signedAt = Date.parse((isForm ? data.completed_at : submitter?.completed_at) ?? timestamp);
  if (Number.isNaN(signedAt)) throw malformed();
  return {
    name: JSON.stringify([event_type, data.id ?? null, timestamp]),
    externalId: externalId !== null && isId(externalId) ? externalId : null,
    submissionId: (isForm ? data.submission_id : data.id) ?? null,
    status,
    completedAt: status === 'COMPLETED' ? signedAt : null,
  };
}

/** Where a secret is configured only its signature counts, so that the plain header cannot be used to get around it. */
function isGenuine(
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

/** `{unix}.{hex}`: the time is signed too, and must be near ours, so that an old delivery cannot be played again. */
export function verifySignature(
  secret: string,
  header: string | string[] | undefined,
  body: Buffer,
  now: number,
): boolean {
  const match = /^(\d{1,12})\.([0-9a-f]{64})$/.exec(typeof header === 'string' ? header : '');
  if (match === null) return false;
  const [, seconds = '', digest = ''] = match;
  if (Math.abs(now / 1000 - Number(seconds)) > TOLERANCE) return false;
  const expected = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
  return isSame(digest, expected);
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHmac('sha256', 'compare').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

function parse(body: Buffer): Event {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    throw malformed();
  }
  if (!isValid(Event, value)) throw malformed();
  return value as Event;
}

function malformed(): ApiError {
  return new ApiError('malformed_request', {}, { message: 'The event cannot be read.' });
}
