import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from '../body.ts';
import { html, sendPage } from '../page.ts';
import type { Office } from './office.ts';
import { FIELDS, type Submission, submissionStatus, TEMPLATES } from './submission.ts';

const OVER: Record<string, string> = {
  completed: 'This form has been signed',
  declined: 'This form was declined',
  expired: 'This link has expired',
  pending: 'This form was taken back',
};

/** `/s/{slug}` as the mail has it: view, sign, decline. `/` lists the mails that were sent. */
export async function answerSigner(
  office: Office,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, slug = '', action] = /^\/s\/([\w-]+)(\/decline)?$/.exec(request.url ?? '') ?? [];
  const submission = office.state.submissions.find((one) => one.slug === slug);
  if (submission === undefined)
    return sendPage(response, 404, 'There is no such form', html`<p>The link is wrong.</p>`);
  if (!office.isOpen(submission))
    return showOver(office, submission, response, request.method === 'POST' ? 422 : 200);
  if (request.method !== 'POST') {
    await office.view(submission);
    return showForm(submission, response);
  }
  const form = new URLSearchParams(await readBody(request, 65_536));
  if (action !== undefined) {
    await office.decline(submission, form.get('reason') ?? '');
  } else {
    const values = FIELDS.flatMap((name) => (form.get(name) ? [[name, String(form.get(name))]] : []));
    await office.sign(submission, Object.fromEntries(values));
  }
  showOver(office, submission, response, 200);
}

export function showMails(office: Office, response: ServerResponse): void {
  const mails = office.state.mails.toReversed().slice(0, 50);
  sendPage(
    response,
    200,
    'Mails with signing links',
    mails.length === 0
      ? html`<p>None was sent yet.</p>`
      : html`<ul>${mails.map(({ to, subject, link, at }) => html`<li>${at} to ${to}: <a href="${link}">${subject}</a></li>`)}</ul>`,
  );
}

function showOver(office: Office, submission: Submission, response: ServerResponse, status: number): void {
  const state = submissionStatus(submission, office.now());
  sendPage(response, status, OVER[state] ?? '', html`<p>You can close this page and go back to the app.</p>`);
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
    html`<p>Read what the form is filled with, correct it where it is wrong, and sign.</p>
<form method="post" action="/s/${slug}"><fieldset><legend>${TEMPLATES[template_id] ?? 'Form'}</legend>${fields}</fieldset>
<button class="main">Sign</button></form>
<form method="post" action="/s/${slug}/decline"><label for="reason">Or say why you will not sign</label><input id="reason" name="reason">
<p><button>Decline</button></p></form>`,
  );
}
