import {
  matchFields,
  type Submission,
  submissionToWire,
  submitterStatus,
  submitterToWire,
  TEMPLATES,
} from './submission.ts';
import type { Submissions } from './submissions.ts';

export type ApiReply = { status: number; body: unknown };

export type ApiRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
};

const DEFAULT_PAGE_SIZE = 10;
const MAX_PAGE_SIZE = 100;

const failure = (error: string, status = 422): ApiReply => ({ status, body: { error } });

type Handler = (submissions: Submissions, request: ApiRequest, id: number) => Promise<ApiReply> | ApiReply;

const ROUTES: readonly [RegExp, Handler][] = [
  [/^POST \/api\/submissions$/, (submissions, { body }) => createSubmission(submissions, body)],
  [
    /^GET \/api\/submissions\/(\d+)$/,
    (submissions, _request, id) =>
      withSubmission(submissions, { id }, (submission) => ({
        status: 200,
        body: submissionToWire(submission, submissions.baseUrl(), submissions.now()),
      })),
  ],
  [
    /^DELETE \/api\/submissions\/(\d+)$/,
    (submissions, _request, id) =>
      withSubmission(submissions, { id }, (submission) => archiveSubmission(submissions, submission)),
  ],
  [/^GET \/api\/submitters$/, (submissions, { query }) => listSubmitters(submissions, query)],
  [
    /^GET \/api\/submitters\/(\d+)$/,
    (submissions, _request, submitter_id) =>
      withSubmission(submissions, { submitter_id }, (submission) => ({
        status: 200,
        body: submitterToWire(submission, submissions.baseUrl()),
      })),
  ],
  [
    /^PUT \/api\/submitters\/(\d+)$/,
    (submissions, { body }, submitter_id) =>
      withSubmission(submissions, { submitter_id }, (submission) =>
        updateSubmitter(submissions, submission, body),
      ),
  ],
];

export async function handleApiRequest(submissions: Submissions, request: ApiRequest): Promise<ApiReply> {
  for (const [pattern, handle] of ROUTES) {
    const match = pattern.exec(`${request.method} ${request.path}`);
    if (match !== null) return handle(submissions, request, Number(match[1] ?? 0));
  }
  return failure('Not found', 404);
}

async function createSubmission(submissions: Submissions, body: Record<string, unknown>): Promise<ApiReply> {
  const { template_id, send_email = true, expire_at = null, submitters } = body;
  if (typeof template_id !== 'number') return failure('template_id is required');
  if (TEMPLATES[template_id] === undefined) return failure('Template not found');
  const [submitter] = Array.isArray(submitters) ? submitters : [];
  if (typeof submitter !== 'object' || submitter === null) return failure('submitters is required');
  const { email, external_id = null, values = {} } = submitter as Record<string, unknown>;
  if (typeof email !== 'string' || !email.includes('@'))
    return failure('email is invalid in `submitters[0]`.');
  const matched = matchFields(values as Record<string, unknown>);
  if (!isDrawable(matched.Signature))
    return failure('Invalid value, url, base64 or text < 60 chars is expected: Signature');
  const submission = await submissions.create({
    template_id,
    email,
    external_id: external_id === null ? null : String(external_id),
    values: matched,
    expire_at: expire_at === null ? null : new Date(String(expire_at)).toISOString(),
  });
  if (send_email !== false) submissions.sendMail(submission);
  await submissions.save();
  void submissions.notify(submission, 'submission.created');
  return { status: 200, body: [submitterToWire(submission, submissions.baseUrl())] };
}

function isDrawable(signature: string | undefined): boolean {
  if (signature === undefined || signature.length < 60) return true;
  return /^(https?:\/\/|data:image\/|[A-Za-z0-9+/]+={0,2}$)/.test(signature);
}

/** For an expired submission, replies 200 but sends no mail, as the provider does. */
async function updateSubmitter(
  submissions: Submissions,
  submission: Submission,
  { send_email, values }: Record<string, unknown>,
): Promise<ApiReply> {
  const status = submitterStatus(submission);
  if (status === 'completed' || status === 'declined')
    return failure(`Submitter has already ${status} the submission.`);
  if (typeof values === 'object' && values !== null)
    Object.assign(submission.values, matchFields(values as Record<string, unknown>));
  if (send_email === true) submissions.sendMail(submission);
  await submissions.save();
  return { status: 200, body: submitterToWire(submission, submissions.baseUrl()) };
}

function archiveSubmission(submissions: Submissions, submission: Submission): ApiReply {
  void submissions.archive(submission);
  return { status: 200, body: { id: submission.id, archived_at: submission.archived_at } };
}

function listSubmitters(submissions: Submissions, query: URLSearchParams): ApiReply {
  const externalId = query.get('external_id');
  const limit = Math.min(MAX_PAGE_SIZE, Number(query.get('limit') ?? DEFAULT_PAGE_SIZE));
  const found = submissions.state.submissions
    .filter((submission) => externalId === null || submission.external_id === externalId)
    .reverse()
    .slice(0, limit);
  const data = found.map((submission) => submitterToWire(submission, submissions.baseUrl()));
  return { status: 200, body: { data, pagination: { count: data.length, next: null, prev: null } } };
}

function withSubmission(
  { state }: Submissions,
  wanted: Partial<Pick<Submission, 'id' | 'submitter_id'>>,
  act: (submission: Submission) => Promise<ApiReply> | ApiReply,
) {
  const found = state.submissions.find(
    ({ id, submitter_id }) => id === wanted.id || submitter_id === wanted.submitter_id,
  );
  return found === undefined ? failure('Not found', 404) : act(found);
}
