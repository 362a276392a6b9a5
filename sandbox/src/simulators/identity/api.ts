import { randomBytes } from 'node:crypto';
import { type Applicant, reviewOf, toWire } from './applicant.ts';
import type { Cases } from './cases.ts';

/** An answer of the provider; an error has its own shape. Webhooks about a change follow on their own. */
export type Answer = { status: number; body: unknown; headers?: Record<string, string> };

export type ApiRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
};

export const LEVELS = ['Sorting_KYC_Level', 'BasicKYCLevel', 'AccreditationIndividual_FullVerification'];

const NO_RESET = ['pending', 'queued', 'prechecked'];
const NO_LEVEL_CHANGE = ['pending', 'queued', 'onHold'];

export function failed(status: number, description: string, more: Record<string, unknown> = {}): Answer {
  return {
    status,
    body: { description, code: status, correlationId: randomBytes(8).toString('hex'), ...more },
  };
}

const ok = (body: unknown = { ok: 1 }): Answer => ({ status: 200, body });

type Handler = (cases: Cases, request: ApiRequest, match: string[], now: number) => Promise<Answer> | Answer;

/** Matched in order against `METHOD path`; groups are percent-decoded. */
const ROUTES: readonly [RegExp, Handler][] = [
  [/^GET \/resources\/status\/api$/, () => ok({ status: 'ok' })],
  [/^POST \/resources\/accessTokens\/sdk$/, (cases, { body }, _match, now) => mint(cases, body, now)],
  [
    /^POST \/resources\/accessTokens$/,
    (cases, { query }, _match, now) =>
      mint(cases, { ...Object.fromEntries(query), ttlInSecs: Number(query.get('ttlInSecs') ?? 600) }, now),
  ],
  [/^POST \/resources\/applicants$/, (cases, { query, body }) => create(cases, query, body)],
  [
    /^GET \/resources\/applicants\/-\/byExternalUserId\/([^/]+)$/,
    (cases, _request, [userId = '']) => {
      const found = cases.byUser(userId);
      return ok(found === undefined ? { exists: false } : { exists: true, applicant: toWire(found) });
    },
  ],
  [
    /^GET \/resources\/applicants\/-;externalUserId=([^/]+)\/one$/,
    (cases, _request, [userId = '']) => show(cases.byUser(userId)),
  ],
  [/^GET \/resources\/applicants\/([^/]+)\/one$/, (cases, _request, [id = '']) => show(cases.byId(id))],
  [
    /^GET \/resources\/applicants\/([^/]+)\/status$/,
    (cases, _request, [id = '']) => withApplicant(cases, id, (one) => ok(reviewOf(one))),
  ],
  [
    /^GET \/resources\/applicants\/([^/]+)\/requiredIdDocsStatus$/,
    (cases, _request, [id = '']) =>
      withApplicant(cases, id, ({ reviewResult }) =>
        ok({ IDENTITY: reviewResult === undefined ? null : { reviewResult } }),
      ),
  ],
  [
    /^GET \/resources\/moderationStates\/-;applicantId=([^/]+)$/,
    (cases, _request, [id = '']) =>
      withApplicant(cases, id, () => ok({ imagesStates: [], applicantState: { buttonIds: [] } })),
  ],
  [
    /^POST \/resources\/applicants\/([^/]+)\/reset$/,
    (cases, _request, [id = '']) => withApplicant(cases, id, (one) => reset(cases, one)),
  ],
  [
    /^POST \/resources\/applicants\/([^/]+)\/moveToLevel$/,
    (cases, { query }, [id = '']) =>
      withApplicant(cases, id, (one) => moveToLevel(cases, one, query.get('name') ?? '')),
  ],
  [
    /^POST \/resources\/applicants\/([^/]+)\/status\/pending$/,
    (cases, _request, [id = '']) => withApplicant(cases, id, (one) => askForCheck(cases, one)),
  ],
  [
    /^POST \/resources\/applicants\/([^/]+)\/status\/testCompleted$/,
    (cases, { body }, [id = '']) => withApplicant(cases, id, (one) => complete(cases, one, body)),
  ],
  [
    /^PATCH \/resources\/applicants\/([^/]+)\/(fixedInfo|info)$/,
    (cases, { body }, [id = '', part]) =>
      withApplicant(cases, id, (one) => changeInfo(cases, one, part === 'info' ? 'info' : 'fixedInfo', body)),
  ],
];

export async function answerApi(cases: Cases, request: ApiRequest, now: number): Promise<Answer> {
  for (const [pattern, handle] of ROUTES) {
    const match = pattern.exec(`${request.method} ${request.path}`);
    if (match !== null) return handle(cases, request, match.slice(1).map(decodeURIComponent), now);
  }
  return failed(404, 'Not found');
}

/** A token is good for one user; the applicant comes into being when it is used, not now. */
async function mint(cases: Cases, body: Record<string, unknown>, now: number): Promise<Answer> {
  const { userId, levelName, ttlInSecs = 600, applicantIdentifiers } = body;
  if (typeof userId !== 'string' || typeof levelName !== 'string')
    return failed(400, 'userId and levelName are required');
  if (!LEVELS.includes(levelName)) return failed(404, `Level '${levelName}' not found`);
  const token = `_act-sbx-jwt-${randomBytes(48).toString('base64url')}`;
  const { email } = (applicantIdentifiers ?? {}) as { email?: string };
  cases.state.tokens = cases.state.tokens.filter(({ expiresAt }) => expiresAt > now).slice(-500);
  cases.state.tokens.push({
    token,
    userId,
    levelName,
    expiresAt: now + Number(ttlInSecs) * 1000,
    ...(email && { email }),
  });
  await cases.save();
  return ok({ token, userId });
}

function create(cases: Cases, query: URLSearchParams, body: Record<string, unknown>): Answer {
  const { externalUserId, type = 'individual' } = body;
  const levelName = query.get('levelName') ?? '';
  if (typeof externalUserId !== 'string') return failed(400, 'externalUserId is required');
  if (!LEVELS.includes(levelName)) return failed(404, `Level '${levelName}' not found`);
  const known = cases.byUser(externalUserId);
  if (known !== undefined)
    return failed(409, `Applicant with external user id '${externalUserId}' already exists: ${known.id}`);
  const { applicant } = cases.create({
    externalUserId,
    levelName,
    type: type === 'company' ? 'company' : 'individual',
  });
  return { status: 201, body: toWire(applicant) };
}

function show(applicant: Applicant | undefined): Answer {
  return applicant === undefined ? failed(404, 'Applicant not found') : ok(toWire(applicant));
}

function withApplicant(cases: Cases, id: string, act: (applicant: Applicant) => Promise<Answer> | Answer) {
  const found = cases.byId(id);
  return found === undefined ? failed(404, 'Applicant not found') : act(found);
}

function reset(cases: Cases, applicant: Applicant): Answer {
  if (NO_RESET.includes(applicant.reviewStatus))
    return failed(409, `Applicant is in status ${applicant.reviewStatus} and cannot be reset`);
  void cases.reset(applicant);
  return ok();
}

function moveToLevel(cases: Cases, applicant: Applicant, levelName: string): Answer {
  if (!LEVELS.includes(levelName)) return failed(404, `Level '${levelName}' not found`);
  if (NO_LEVEL_CHANGE.includes(applicant.reviewStatus))
    return failed(409, `Applicant is in status ${applicant.reviewStatus}`, { errorCode: 3000 });
  void cases.changeLevel(applicant, levelName);
  return ok(toWire(applicant));
}

function askForCheck(cases: Cases, applicant: Applicant): Answer {
  if (Object.keys(applicant.fixedInfo).length === 0) return failed(409, 'Required documents are missing');
  void cases.move(applicant, 'pending');
  return ok();
}

function complete(cases: Cases, applicant: Applicant, body: Record<string, unknown>): Answer {
  const { reviewAnswer, reviewRejectType } = body;
  if (reviewAnswer !== 'GREEN' && reviewAnswer !== 'RED') return failed(400, 'reviewAnswer is required');
  const rejectType = reviewRejectType === 'FINAL' ? 'FINAL' : 'RETRY';
  void cases.move(applicant, 'completed', {
    reviewAnswer,
    ...(reviewAnswer === 'RED' && {
      reviewRejectType: rejectType,
      rejectLabels: (body.rejectLabels ?? []) as string[],
    }),
  });
  return ok();
}

async function changeInfo(
  cases: Cases,
  applicant: Applicant,
  part: 'info' | 'fixedInfo',
  body: Record<string, unknown>,
): Promise<Answer> {
  Object.assign(applicant[part], body);
  await cases.save();
  void cases.tell(applicant, 'applicantPersonalInfoChanged');
  return ok(toWire(applicant));
}
