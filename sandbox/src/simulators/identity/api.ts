import { randomBytes } from 'node:crypto';
import { type Applicant, applicantToWire, reviewToWire } from './applicant.ts';
import type { Applicants } from './applicants.ts';

/** A reply from the provider's API. The webhooks that a change causes are sent separately. */
export type ApiReply = { status: number; body: unknown; headers?: Record<string, string> };

export type ApiRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
};

export const LEVELS = ['Sorting_KYC_Level', 'BasicKYCLevel', 'AccreditationIndividual_FullVerification'];

/** Review statuses in which the provider rejects a reset. */
const NO_RESET = ['pending', 'queued', 'prechecked'];
/** Review statuses in which the provider rejects a level change. */
const NO_LEVEL_CHANGE = ['pending', 'queued', 'onHold'];

export function failure(status: number, description: string, extra: Record<string, unknown> = {}): ApiReply {
  return {
    status,
    body: { description, code: status, correlationId: randomBytes(8).toString('hex'), ...extra },
  };
}

const ok = (body: unknown = { ok: 1 }): ApiReply => ({ status: 200, body });

type Handler = (
  applicants: Applicants,
  request: ApiRequest,
  match: string[],
  now: number,
) => Promise<ApiReply> | ApiReply;

/** The routes, matched in order against `METHOD path`. Handlers receive the percent-decoded capture groups. */
const ROUTES: readonly [RegExp, Handler][] = [
  [/^GET \/resources\/status\/api$/, () => ok({ status: 'ok' })],
  [
    /^POST \/resources\/accessTokens\/sdk$/,
    (applicants, { body }, _match, now) => issueToken(applicants, body, now),
  ],
  [
    /^POST \/resources\/accessTokens$/,
    (applicants, { query }, _match, now) =>
      issueToken(
        applicants,
        { ...Object.fromEntries(query), ttlInSecs: Number(query.get('ttlInSecs') ?? 600) },
        now,
      ),
  ],
  [
    /^POST \/resources\/applicants$/,
    (applicants, { query, body }) => createApplicant(applicants, query, body),
  ],
  [
    /^GET \/resources\/applicants\/-\/byExternalUserId\/([^/]+)$/,
    (applicants, _request, [userId = '']) => {
      const found = applicants.findByUser(userId);
      return ok(
        found === undefined ? { exists: false } : { exists: true, applicant: applicantToWire(found) },
      );
    },
  ],
  [
    /^GET \/resources\/applicants\/-;externalUserId=([^/]+)\/one$/,
    (applicants, _request, [userId = '']) => showApplicant(applicants.findByUser(userId)),
  ],
  [
    /^GET \/resources\/applicants\/([^/]+)\/one$/,
    (applicants, _request, [id = '']) => showApplicant(applicants.findById(id)),
  ],
  [
    /^GET \/resources\/applicants\/([^/]+)\/status$/,
    (applicants, _request, [id = '']) =>
      withApplicant(applicants, id, (applicant) => ok(reviewToWire(applicant))),
  ],
  [
    /^GET \/resources\/applicants\/([^/]+)\/requiredIdDocsStatus$/,
    (applicants, _request, [id = '']) =>
      withApplicant(applicants, id, ({ reviewResult }) =>
        ok({ IDENTITY: reviewResult === undefined ? null : { reviewResult } }),
      ),
  ],
  [
    /^GET \/resources\/moderationStates\/-;applicantId=([^/]+)$/,
    (applicants, _request, [id = '']) =>
      withApplicant(applicants, id, () => ok({ imagesStates: [], applicantState: { buttonIds: [] } })),
  ],
  [
    /^POST \/resources\/applicants\/([^/]+)\/reset$/,
    (applicants, _request, [id = '']) =>
      withApplicant(applicants, id, (applicant) => reset(applicants, applicant)),
  ],
  [
    /^POST \/resources\/applicants\/([^/]+)\/moveToLevel$/,
    (applicants, { query }, [id = '']) =>
      withApplicant(applicants, id, (applicant) =>
        moveToLevel(applicants, applicant, query.get('name') ?? ''),
      ),
  ],
  [
    /^POST \/resources\/applicants\/([^/]+)\/status\/pending$/,
    (applicants, _request, [id = '']) =>
      withApplicant(applicants, id, (applicant) => requestCheck(applicants, applicant)),
  ],
  [
    /^POST \/resources\/applicants\/([^/]+)\/status\/testCompleted$/,
    (applicants, { body }, [id = '']) =>
      withApplicant(applicants, id, (applicant) => completeReview(applicants, applicant, body)),
  ],
  [
    /^PATCH \/resources\/applicants\/([^/]+)\/(fixedInfo|info)$/,
    (applicants, { body }, [id = '', part]) =>
      withApplicant(applicants, id, (applicant) =>
        changeInfo(applicants, applicant, part === 'info' ? 'info' : 'fixedInfo', body),
      ),
  ],
];

export async function handleApiRequest(
  applicants: Applicants,
  request: ApiRequest,
  now: number,
): Promise<ApiReply> {
  for (const [pattern, handle] of ROUTES) {
    const match = pattern.exec(`${request.method} ${request.path}`);
    if (match !== null) return handle(applicants, request, match.slice(1).map(decodeURIComponent), now);
  }
  return failure(404, 'Not found');
}

/** Issues a token for one user. The applicant is created when the token is first used. */
async function issueToken(
  applicants: Applicants,
  body: Record<string, unknown>,
  now: number,
): Promise<ApiReply> {
  const { userId, levelName, ttlInSecs = 600, applicantIdentifiers } = body;
  if (typeof userId !== 'string' || typeof levelName !== 'string')
    return failure(400, 'userId and levelName are required');
  if (!LEVELS.includes(levelName)) return failure(404, `Level '${levelName}' not found`);
  const token = `_act-sbx-jwt-${randomBytes(48).toString('base64url')}`;
  const { email } = (applicantIdentifiers ?? {}) as { email?: string };
  applicants.state.tokens = applicants.state.tokens.filter(({ expiresAt }) => expiresAt > now).slice(-500);
  applicants.state.tokens.push({
    token,
    userId,
    levelName,
    expiresAt: now + Number(ttlInSecs) * 1000,
    ...(email && { email }),
  });
  await applicants.save();
  return ok({ token, userId });
}

function createApplicant(
  applicants: Applicants,
  query: URLSearchParams,
  body: Record<string, unknown>,
): ApiReply {
  const { externalUserId, type = 'individual' } = body;
  const levelName = query.get('levelName') ?? '';
  if (typeof externalUserId !== 'string') return failure(400, 'externalUserId is required');
  if (!LEVELS.includes(levelName)) return failure(404, `Level '${levelName}' not found`);
  const existing = applicants.findByUser(externalUserId);
  if (existing !== undefined)
    return failure(409, `Applicant with external user id '${externalUserId}' already exists: ${existing.id}`);
  const { applicant } = applicants.create({
    externalUserId,
    levelName,
    type: type === 'company' ? 'company' : 'individual',
  });
  return { status: 201, body: applicantToWire(applicant) };
}

function showApplicant(applicant: Applicant | undefined): ApiReply {
  return applicant === undefined ? failure(404, 'Applicant not found') : ok(applicantToWire(applicant));
}

function withApplicant(
  applicants: Applicants,
  id: string,
  act: (applicant: Applicant) => Promise<ApiReply> | ApiReply,
) {
  const found = applicants.findById(id);
  return found === undefined ? failure(404, 'Applicant not found') : act(found);
}

function reset(applicants: Applicants, applicant: Applicant): ApiReply {
  if (NO_RESET.includes(applicant.reviewStatus))
    return failure(409, `Applicant is in status ${applicant.reviewStatus} and cannot be reset`);
  void applicants.reset(applicant);
  return ok();
}

function moveToLevel(applicants: Applicants, applicant: Applicant, levelName: string): ApiReply {
  if (!LEVELS.includes(levelName)) return failure(404, `Level '${levelName}' not found`);
  if (NO_LEVEL_CHANGE.includes(applicant.reviewStatus))
    return failure(409, `Applicant is in status ${applicant.reviewStatus}`, { errorCode: 3000 });
  void applicants.changeLevel(applicant, levelName);
  return ok(applicantToWire(applicant));
}

function requestCheck(applicants: Applicants, applicant: Applicant): ApiReply {
  if (Object.keys(applicant.fixedInfo).length === 0) return failure(409, 'Required documents are missing');
  void applicants.setStatus(applicant, 'pending');
  return ok();
}

function completeReview(
  applicants: Applicants,
  applicant: Applicant,
  body: Record<string, unknown>,
): ApiReply {
  const { reviewAnswer, reviewRejectType } = body;
  if (reviewAnswer !== 'GREEN' && reviewAnswer !== 'RED') return failure(400, 'reviewAnswer is required');
  const rejectType = reviewRejectType === 'FINAL' ? 'FINAL' : 'RETRY';
  void applicants.setStatus(applicant, 'completed', {
    reviewAnswer,
    ...(reviewAnswer === 'RED' && {
      reviewRejectType: rejectType,
      rejectLabels: (body.rejectLabels ?? []) as string[],
    }),
  });
  return ok();
}

async function changeInfo(
  applicants: Applicants,
  applicant: Applicant,
  part: 'info' | 'fixedInfo',
  body: Record<string, unknown>,
): Promise<ApiReply> {
  Object.assign(applicant[part], body);
  await applicants.save();
  void applicants.notify(applicant, 'applicantPersonalInfoChanged');
  return ok(applicantToWire(applicant));
}
