import Type from 'typebox';
import { realTime } from '../../kernel/clock.ts';
import type { IdentitySettings } from '../../kernel/config/provider-settings.ts';
import { createCallRate } from '../outbound/call-rate.ts';
import { invalidResponse, UpstreamFailure, upstreamError } from '../outbound/failure.ts';
import { openUpstream, parseBody, type Upstream } from '../outbound/upstream.ts';
import type { Applicant, IdentityProvider } from './identity.ts';
import { SumsubApplicant, toApplicant } from './sumsub-applicant.ts';
import { signRequest } from './sumsub-signature.ts';
import { readSumsubWebhook } from './sumsub-webhook.ts';

export const UPSTREAM = 'identity';
const TIMEOUT_MS = 8_000;
/**
 * The lifetime of a token. We send the lifetime explicitly, because the vendor's documentation contradicts itself about
 * the default.
 */
const TOKEN_TTL_S = 600;
/**
 * The maximum call rates of one node. The vendor allows 300 reads and 50 writes in 5 seconds for all nodes together, so
 * several busy nodes can exceed the vendor's limits. When a node gets a 429, `openUpstream` pauses that node's calls.
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

/**
 * Returns the headers that sign a request. The timestamp uses real time, not the sandbox clock, because the provider
 * compares the timestamp with its own clock.
 */
function signedHeaders({ appToken, secret }: IdentitySettings, method: string, path: string, body?: string) {
  const seconds = Math.floor(realTime() / 1000);
  return {
    'x-app-token': appToken,
    'x-app-access-ts': String(seconds),
    'x-app-access-sig': signRequest(secret, seconds, method, path, body),
  };
}

/** Changes the applicant. Returns false if the applicant's state does not allow the change. */
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

/**
 * Returns the applicant of a user, or null if there is none. Asks the existence endpoint first, because the endpoint
 * that reads an applicant answers 404 in two cases: there is no applicant, or we lack the permission.
 */
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
