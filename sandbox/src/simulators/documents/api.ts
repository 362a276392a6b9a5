import type { Office } from './office.ts';
import {
  matchFields,
  type Submission,
  submissionToWire,
  submitterStatus,
  submitterToWire,
  TEMPLATES,
} from './submission.ts';

export type Answer = { status: number; body: unknown };

export type ApiRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
};

const refused = (error: string, status = 422): Answer => ({ status, body: { error } });

type Handler = (office: Office, request: ApiRequest, id: number) => Promise<Answer> | Answer;

const ROUTES: readonly [RegExp, Handler][] = [
  [/^POST \/api\/submissions$/, (office, { body }) => create(office, body)],
  [
    /^GET \/api\/submissions\/(\d+)$/,
    (office, _request, id) =>
      withSubmission(office, id, (one) => ({
        status: 200,
        body: submissionToWire(one, office.host(), office.now()),
      })),
  ],
  [
    /^DELETE \/api\/submissions\/(\d+)$/,
    (office, _request, id) => withSubmission(office, id, (one) => archive(office, one)),
  ],
  [/^GET \/api\/submitters$/, (office, { query }) => listSubmitters(office, query)],
  [
    /^GET \/api\/submitters\/(\d+)$/,
    (office, _request, id) =>
      withSubmitter(office, id, (one) => ({ status: 200, body: submitterToWire(one, office.host()) })),
  ],
  [
    /^PUT \/api\/submitters\/(\d+)$/,
    (office, { body }, id) => withSubmitter(office, id, (one) => change(office, one, body)),
  ],
];

export async function answerApi(office: Office, request: ApiRequest): Promise<Answer> {
  for (const [pattern, handle] of ROUTES) {
    const match = pattern.exec(`${request.method} ${request.path}`);
    if (match !== null) return handle(office, request, Number(match[1] ?? 0));
  }
  return refused('Not found', 404);
}

async function create(office: Office, body: Record<string, unknown>): Promise<Answer> {
  const { template_id, send_email = true, expire_at = null, submitters } = body;
  if (typeof template_id !== 'number') return refused('template_id is required');
  if (TEMPLATES[template_id] === undefined) return refused('Template not found');
  const [submitter] = Array.isArray(submitters) ? submitters : [];
  if (typeof submitter !== 'object' || submitter === null) return refused('submitters is required');
  const { email, external_id = null, values = {} } = submitter as Record<string, unknown>;
  if (typeof email !== 'string' || !email.includes('@'))
    return refused('email is invalid in `submitters[0]`.');
  const matched = matchFields(values as Record<string, unknown>);
  if (!isDrawable(matched.Signature))
    return refused('Invalid value, url, base64 or text < 60 chars is expected: Signature');
  const submission = await office.create({
    template_id,
    email,
    external_id: external_id === null ? null : String(external_id),
    values: matched,
    expire_at: expire_at === null ? null : new Date(String(expire_at)).toISOString(),
  });
  if (send_email !== false) office.mail(submission);
  await office.save();
  void office.tell(submission, 'submission.created');
  return { status: 200, body: [submitterToWire(submission, office.host())] };
}

function isDrawable(signature: string | undefined): boolean {
  if (signature === undefined || signature.length < 60) return true;
  return /^(https?:\/\/|data:image\/|[A-Za-z0-9+/]+={0,2}$)/.test(signature);
}

/** For a form that has expired it says yes and sends nothing. */
async function change(
  office: Office,
  submission: Submission,
  { send_email, values }: Record<string, unknown>,
): Promise<Answer> {
  const status = submitterStatus(submission);
  if (status === 'completed' || status === 'declined')
    return refused(`Submitter has already ${status} the submission.`);
  if (typeof values === 'object' && values !== null)
    Object.assign(submission.values, matchFields(values as Record<string, unknown>));
  if (send_email === true) office.mail(submission);
  await office.save();
  return { status: 200, body: submitterToWire(submission, office.host()) };
}

async function archive(office: Office, submission: Submission): Promise<Answer> {
  void office.archive(submission);
  return { status: 200, body: { id: submission.id, archived_at: submission.archived_at } };
}

function listSubmitters(office: Office, query: URLSearchParams): Answer {
  const externalId = query.get('external_id');
  const limit = Math.min(100, Number(query.get('limit') ?? 10));
  const found = office.state.submissions
    .filter((one) => externalId === null || one.external_id === externalId)
    .reverse()
    .slice(0, limit);
  const data = found.map((one) => submitterToWire(one, office.host()));
  return { status: 200, body: { data, pagination: { count: data.length, next: null, prev: null } } };
}

function withSubmission(
  office: Office,
  id: number,
  act: (submission: Submission) => Promise<Answer> | Answer,
) {
  const found = office.state.submissions.find((one) => one.id === id);
  return found === undefined ? refused('Not found', 404) : act(found);
}

function withSubmitter(
  office: Office,
  id: number,
  act: (submission: Submission) => Promise<Answer> | Answer,
) {
  const found = office.state.submissions.find((one) => one.submitter_id === id);
  return found === undefined ? refused('Not found', 404) : act(found);
}
