import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Registry } from 'prom-client';
import Type, { type Static } from 'typebox';
import { unauthorized } from '../../kernel/access.ts';
import { realTime } from '../../kernel/clock.ts';
import type { DocumentSettings } from '../../kernel/config/provider-settings.ts';
import { isId } from '../../kernel/ids.ts';
import { malformedEvent, parseWebhook, type WebhookHeaders } from '../../kernel/model/webhook.ts';
import { invalidResponse } from '../outbound/failure.ts';
import { openUpstream, parseBody, type UpstreamReply } from '../outbound/upstream.ts';
import {
  type DocumentEvent,
  type DocumentProvider,
  isOpen,
  type Signing,
  type SubmissionStatus,
} from './documents.ts';

const UPSTREAM = 'documents';
const TIMEOUT_MS = 10_000;

const Time = Type.Optional(Type.Union([Type.String(), Type.Null()]));

/** Lists only the fields that we use. Responses also contain the form's values, which must not leave this adapter. */
const Submitter = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  submission_id: Type.Optional(Type.Integer({ minimum: 1 })),
  email: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  status: Type.String(),
  completed_at: Time,
});
type Submitter = Static<typeof Submitter>;

const Submission = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  status: Type.String(),
  archived_at: Time,
  submitters: Type.Array(Submitter, { minItems: 1 }),
});

const Submitters = Type.Array(Submitter, { minItems: 1 });
const SubmitterList = Type.Object({ data: Type.Array(Submitter) });
const Refusal = Type.Object({ error: Type.String() });

/** Connects to DocuSeal. The adapter knows the vendor's protocol and none of our rules. */
export function openDocuseal(
  settings: DocumentSettings,
  registry?: Registry,
  timeoutMs = TIMEOUT_MS,
): DocumentProvider {
  const upstream = openUpstream({
    name: UPSTREAM,
    url: settings.url,
    timeoutMs,
    ...(registry && { registry }),
  });
  const headers = () => ({ 'x-auth-token': settings.apiKey });
  const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) =>
    upstream.request({
      method,
      path,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const sendRead = (submissionId: number) => send('GET', `/submissions/${submissionId}`);
  const read = async (submissionId: number) => parseSigning(await sendRead(submissionId));

  return {
    create: async ({ externalId, formType, email, values, expiresAt }) => {
      const reply = await send('POST', '/submissions', {
        template_id: settings.templates[formType],
        send_email: true,
        expire_at: new Date(expiresAt).toISOString(),
        submitters: [{ email, external_id: externalId, values }],
      });
      if (reply.status === 422) return { refused: isAboutTemplate(reply) ? 'setup' : 'values' };
      if (reply.status >= 400 && reply.status < 500) return { refused: 'setup' };
      const [submitter] = parseBody(UPSTREAM, Submitters, expectSuccess(reply, 'create submission').body);
      if (submitter?.submission_id === undefined) throw invalidResponse(UPSTREAM, 'submission without an id');
      return {
        submissionId: submitter.submission_id,
        submitterId: submitter.id,
        email: submitter.email ?? null,
        status: submitterStatus(submitter),
        completedAt: readTime(submitter.completed_at),
      };
    },
    find: async (externalId) => {
      const query = `external_id=${encodeURIComponent(externalId)}&limit=1`;
      const { body } = expectSuccess(await send('GET', `/submitters?${query}`), 'find submission');
      const [submitter] = parseBody(UPSTREAM, SubmitterList, body).data;
      // Only the submission, not the submitter, shows whether the submission has expired or was archived.
      return submitter?.submission_id === undefined ? null : read(submitter.submission_id);
    },
    read,
    resend: async (submitterId, values) => {
      const reply = await send('PUT', `/submitters/${submitterId}`, { send_email: true, values });
      if (reply.status === 422) return false;
      expectSuccess(reply, 'resend link');
      return true;
    },
    archive: async (submissionId) => {
      const reply = await sendRead(submissionId);
      // A 404 without a JSON body comes from a proxy and says nothing about the form.
      if (reply.status === 404 && reply.body !== null) return null;
      const signing = parseSigning(reply);
      if (!isOpen(signing.status)) return signing;
      expectSuccess(await send('DELETE', `/submissions/${submissionId}`), 'archive submission');
      // The form may have been signed between the two calls.
      return read(submissionId);
    },
    readWebhook: (webhookHeaders, body) => readDocusealWebhook(settings, webhookHeaders, body),
    close: () => upstream.close(),
  };
}

function expectSuccess(reply: UpstreamReply, operation: string): UpstreamReply {
  if (reply.status >= 200 && reply.status < 300) return reply;
  throw invalidResponse(UPSTREAM, `${operation}: HTTP ${reply.status}`);
}

function isAboutTemplate({ body }: UpstreamReply): boolean {
  return /^template/i.test(parseBody(UPSTREAM, Refusal, body).error);
}

function parseSigning(reply: UpstreamReply): Signing {
  return toSigning(parseBody(UPSTREAM, Submission, expectSuccess(reply, 'read submission').body));
}

function toSigning({ id, status, archived_at, submitters }: Static<typeof Submission>): Signing {
  const [submitter] = submitters;
  if (submitter === undefined) throw invalidResponse(UPSTREAM, 'submission without a submitter');
  const signerStatus = submitterStatus(submitter);
  const isDecided = signerStatus === 'COMPLETED' || signerStatus === 'DECLINED';
  const isExpired = status === 'expired' || (archived_at ?? null) !== null;
  return {
    submissionId: id,
    submitterId: submitter.id,
    email: submitter.email ?? null,
    status: isExpired && !isDecided ? 'EXPIRED' : signerStatus,
    completedAt: readTime(submitter.completed_at),
  };
}

const SUBMITTER_STATUSES = new Map<string, SubmissionStatus>([
  ['awaiting', 'INITIALIZED'],
  ['sent', 'SENT'],
  ['opened', 'VIEWED'],
  ['completed', 'COMPLETED'],
  ['declined', 'DECLINED'],
]);

function submitterStatus({ status, completed_at }: Submitter): SubmissionStatus {
  const known = SUBMITTER_STATUSES.get(status);
  if (known === undefined || (known === 'COMPLETED' && readTime(completed_at) === null))
    throw invalidResponse(UPSTREAM, 'unknown submitter status');
  return known;
}

function readTime(text: string | null | undefined): number | null {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? null : time;
}

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

/** With `webhookSecrets`, a valid signature is required, so that nobody can bypass it with the header. */
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

/** Of the form `{unix}.{hex}`. The signed time must be close to `now`, so that nobody can replay an old request. */
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
