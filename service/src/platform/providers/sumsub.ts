import { createHmac, timingSafeEqual } from 'node:crypto';
import Type from 'typebox';
import { unauthorized } from '../../kernel/access.ts';
import { realTime } from '../../kernel/clock.ts';
import type { IdentitySettings } from '../../kernel/config/provider-settings.ts';
import { malformedEvent, parseWebhook, type WebhookHeaders } from '../../kernel/model/webhook.ts';
import { createCallRate } from '../outbound/call-rate.ts';
import { invalidResponse, UpstreamFailure, upstreamError } from '../outbound/failure.ts';
import { openUpstream, parseBody, type Upstream } from '../outbound/upstream.ts';
import type { Applicant, EventEffect, IdentityEvent, IdentityProvider } from './identity.ts';
import { ReviewResult, readTime, SumsubApplicant, toApplicant, toReview } from './sumsub-applicant.ts';

const UPSTREAM = 'identity';
const TIMEOUT_MS = 8_000;
/** Sent explicitly, because the vendor's documentation contradicts itself about the default. */
const TOKEN_TTL_S = 600;
/**
 * The vendor allows 300 reads and 50 writes in 5 seconds for all nodes together. When a node gets a 429,
 * `openUpstream` pauses its calls.
 */
const READ_RATE = { count: 200, windowMs: 5_000 };
const WRITE_RATE = { count: 40, windowMs: 5_000 };

const Token = Type.Object({ token: Type.String({ minLength: 1, maxLength: 4096 }) });
const Existence = Type.Object({ exists: Type.Boolean(), applicant: Type.Optional(SumsubApplicant) });

type Call = { method: 'GET' | 'POST'; path: string; body?: string; isRepeatable?: boolean };

/** Connects to Sumsub. The adapter knows the vendor's protocol and none of our rules. */
export function openSumsub(
  settings: IdentitySettings,
  registry?: Parameters<typeof openUpstream>[0]['registry'],
  timeoutMs = TIMEOUT_MS,
): IdentityProvider {
  const upstream = openUpstream({
    name: UPSTREAM,
    url: settings.url,
    timeoutMs,
    ...(registry && { registry }),
  });
  const call = createCall(settings, upstream, timeoutMs);

  return {
    isSandbox: settings.appToken.startsWith('sbx:'),
    createToken: async ({ userId, level, email }) => {
      const body = JSON.stringify({
        ttlInSecs: TOKEN_TTL_S,
        userId,
        levelName: level,
        applicantIdentifiers: { email },
      });
      // Repeating a lost request is safe, because a second token does not affect the first one.
      const reply = await call({
        method: 'POST',
        path: '/resources/accessTokens/sdk',
        body,
        isRepeatable: true,
      });
      expectSuccess(reply.status, 'create token');
      return parseBody(UPSTREAM, Token, reply.body).token;
    },
    findApplicant: async (userId) => findApplicant(call, userId),
    resetApplicant: (applicantId) => changeApplicant(call, applicantId, 'reset'),
    moveToLevel: (applicantId, level) =>
      changeApplicant(call, applicantId, `moveToLevel?name=${encodeURIComponent(level)}`),
    readWebhook: (headers, body) => readSumsubWebhook(settings.webhookSecrets, headers, body),
    close: () => upstream.close(),
  };
}

function createCall(settings: IdentitySettings, upstream: Upstream, timeoutMs: number) {
  const reads = createCallRate(READ_RATE.count, READ_RATE.windowMs);
  const writes = createCallRate(WRITE_RATE.count, WRITE_RATE.windowMs);
  return async (request: Call) => {
    const { method, path, body } = request;
    if (!(await (method === 'GET' ? reads : writes).take(timeoutMs)))
      throw upstreamError(
        UPSTREAM,
        new UpstreamFailure('not_sent', 'call rate exceeded', { retryAfterSeconds: 5 }),
      );
    return upstream.request({ ...request, headers: () => signedHeaders(settings, method, path, body) });
  };
}

/** Real time, not the sandbox clock, because the provider compares the timestamp with its own clock. */
function signedHeaders({ appToken, secret }: IdentitySettings, method: string, path: string, body?: string) {
  const seconds = Math.floor(realTime() / 1000);
  return {
    'x-app-token': appToken,
    'x-app-access-ts': String(seconds),
    'x-app-access-sig': signRequest(secret, seconds, method, path, body),
  };
}

async function changeApplicant(
  call: ReturnType<typeof createCall>,
  applicantId: string,
  change: string,
): Promise<boolean> {
  const path = `/resources/applicants/${encodeURIComponent(applicantId)}/${change}`;
  const { status } = await call({ method: 'POST', path });
  if (status === 409 || status === 400) return false;
  expectSuccess(status, 'change applicant');
  return true;
}

/** Asks the existence endpoint first: the one that reads an applicant answers 404 also if we lack the permission. */
async function findApplicant(call: ReturnType<typeof createCall>, userId: string): Promise<Applicant | null> {
  const id = encodeURIComponent(userId);
  const reply = await call({ method: 'GET', path: `/resources/applicants/-/byExternalUserId/${id}` });
  expectSuccess(reply.status, 'find applicant');
  const { exists, applicant } = parseBody(UPSTREAM, Existence, reply.body);
  if (!exists) return null;
  if (applicant?.review !== undefined) return toApplicant(applicant);
  const one = await call({ method: 'GET', path: `/resources/applicants/-;externalUserId=${id}/one` });
  expectSuccess(one.status, 'read applicant');
  return toApplicant(parseBody(UPSTREAM, SumsubApplicant, one.body));
}

function expectSuccess(status: number, operation: string): void {
  if (status < 200 || status >= 300) throw invalidResponse(UPSTREAM, `${operation}: HTTP ${status}`);
}

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
 * Null for an event whose type has no effect, whatever the other fields contain: the provider also sends events that
 * are not about applicants, and disables a webhook whose events are refused.
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
  // After a reset, an event may have the status `init` but still contain the old answer.
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

/** Signs the timestamp, the method, the path with the query as sent, and the body, without separators. */
export function signRequest(
  secret: string,
  seconds: number,
  method: string,
  path: string,
  body = '',
): string {
  return createHmac('sha256', secret).update(`${seconds}${method}${path}${body}`).digest('hex');
}

/** The accepted algorithms. The provider also offers SHA-1, but a sender must not be able to choose it. */
const ALGORITHMS = new Map([
  ['HMAC_SHA256_HEX', 'sha256'],
  ['HMAC_SHA512_HEX', 'sha512'],
]);

export function verifyDigest(
  secrets: readonly string[],
  algorithm: string | undefined,
  digest: string | undefined,
  body: Buffer,
): boolean {
  const name = ALGORITHMS.get(algorithm ?? 'HMAC_SHA256_HEX');
  if (name === undefined || digest === undefined || !/^[0-9a-f]+$/i.test(digest)) return false;
  const given = Buffer.from(digest, 'hex');
  return secrets.some((secret) => {
    const expected = createHmac(name, secret).update(body).digest();
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
}
