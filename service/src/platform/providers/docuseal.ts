import type { Registry } from 'prom-client';
import Type, { type Static } from 'typebox';
import type { DocumentSettings } from '../../kernel/config/provider-settings.ts';
import { invalidResponse } from '../outbound/failure.ts';
import { openUpstream, parseBody, type UpstreamReply } from '../outbound/upstream.ts';
import { type DocumentProvider, isOpen, type Signing, type SubmissionStatus } from './documents.ts';
import { readDocusealWebhook } from './docuseal-webhook.ts';

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

/** Returns whether the provider rejected our template configuration rather than the submitted values. */
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

export function readTime(text: string | null | undefined): number | null {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? null : time;
}
