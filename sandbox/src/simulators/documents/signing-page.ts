import type { IncomingMessage, ServerResponse } from 'node:http';
import { html } from '@causeway/service/kernel/html.ts';
import { readBody } from '../http.ts';
import { sendPage } from '../page.ts';
import { FIELDS, type Submission, submissionStatus, TEMPLATES } from './submission.ts';
import type { Submissions } from './submissions.ts';

const MAX_FORM_BYTES = 65_536;
const MAX_LISTED_MAILS = 50;

/** The page titles for closed submissions, by status. If a closed submission is still `pending`, it was archived. */
const CLOSED_TITLES: Record<ReturnType<typeof submissionStatus>, string> = {
  completed: 'This form has been signed',
  declined: 'This form was declined',
  expired: 'This link has expired',
  pending: 'This form was withdrawn',
};

/** Handles `/s/{slug}`, the link in the mail: `GET` views the form, `POST` signs it, `POST …/decline` declines it. */
export async function handleSigningPage(
  submissions: Submissions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, slug = '', action] = /^\/s\/([\w-]+)(\/decline)?$/.exec(request.url ?? '') ?? [];
  const submission = submissions.state.submissions.find((one) => one.slug === slug);
  if (submission === undefined)
    return sendPage(response, 404, 'Form not found', html`<p>Check that you opened the whole link.</p>`);
  if (!submissions.isOpen(submission))
    return showClosed(submissions, submission, response, request.method === 'POST' ? 422 : 200);
  if (request.method !== 'POST') {
    await submissions.view(submission);
    return showForm(submission, response);
  }
  const form = new URLSearchParams(await readBody(request, MAX_FORM_BYTES));
  if (action !== undefined) {
    await submissions.decline(submission, form.get('reason') ?? '');
  } else {
    const values = FIELDS.flatMap((name) => (form.get(name) ? [[name, String(form.get(name))]] : []));
    await submissions.sign(submission, Object.fromEntries(values));
  }
  showClosed(submissions, submission, response, 200);
}

/** Lists the latest mail with signing links. */
export function showMails({ state }: Submissions, response: ServerResponse): void {
  const mails = state.mails.toReversed().slice(0, MAX_LISTED_MAILS);
  sendPage(
    response,
    200,
    'Signing requests',
    mails.length === 0
      ? html`<p>No mail has been sent yet.</p>`
      : html`<ul>${mails.map(({ to, subject, link, at }) => html`<li>${at} to ${to}: <a href="${link}">${subject}</a></li>`)}</ul>`,
  );
}

function showClosed(
  { now }: Submissions,
  submission: Submission,
  response: ServerResponse,
  status: number,
): void {
  const title = CLOSED_TITLES[submissionStatus(submission, now())];
  sendPage(response, status, title, html`<p>You can close this page and return to the app.</p>`);
}

function showForm({ slug, template_id, values }: Submission, response: ServerResponse): void {
  const fields = FIELDS.map(
    (name) =>
      html`<div><label for="${name}">${name}</label><input id="${name}" name="${name}" value="${values[name] ?? ''}"></div>`,
  );
  sendPage(
    response,
    200,
    `Sign ${TEMPLATES[template_id] ?? 'the form'}`,
    html`<p>Check the details below, correct anything that is wrong, then sign.</p>
<form method="post" action="/s/${slug}"><fieldset><legend>${TEMPLATES[template_id] ?? 'Form'}</legend>${fields}</fieldset>
<button class="main">Sign</button></form>
<form method="post" action="/s/${slug}/decline"><label for="reason">Reason for declining</label><input id="reason" name="reason">
<p><button>Decline</button></p></form>`,
  );
}
