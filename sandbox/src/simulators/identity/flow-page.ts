import type { IncomingMessage, ServerResponse } from 'node:http';
import { html } from '@causeway/service/kernel/html.ts';
import { Check } from 'typebox/schema';
import { readBody } from '../http.ts';
import { sendPage } from '../page.ts';
import type { Applicant, ReviewResult, Token } from './applicant.ts';
import type { Applicants } from './applicants.ts';
import { isUnderReview, openFlow } from './flow.ts';
import { DEFAULT_COUNTRY, examplePerson, isEmpty, Person, setPerson } from './person.ts';

const MAX_FORM_BYTES = 65_536;

/** The review decisions that the page offers. */
const OUTCOMES = {
  approve: 'Approve',
  retry: 'Reject and ask for new documents',
  final: 'Reject permanently',
  pending: 'Leave under review',
  hold: 'Put on hold for manual review',
} as const;
type Outcome = keyof typeof OUTCOMES;

const RESULTS: Partial<Record<Outcome, ReviewResult>> = {
  approve: { reviewAnswer: 'GREEN' },
  retry: { reviewAnswer: 'RED', reviewRejectType: 'RETRY', rejectLabels: ['UNSATISFACTORY_PHOTOS'] },
  final: { reviewAnswer: 'RED', reviewRejectType: 'FINAL', rejectLabels: ['FORGERY'] },
};

/**
 * Handles `/flow?token=…`, the stand-in for the provider's web SDK. Opening this page creates the applicant, as the SDK
 * does.
 */
export async function handleFlowPage(
  applicants: Applicants,
  now: number,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  const form =
    request.method === 'POST' ? new URLSearchParams(await readBody(request, MAX_FORM_BYTES)) : null;
  const wanted = form?.get('token') ?? query.get('token') ?? '';
  const token = applicants.state.tokens.find((one) => one.token === wanted && one.expiresAt > now);
  if (token === undefined)
    return sendPage(
      response,
      404,
      'This link has expired',
      html`<p>Request a new token with <code>POST /v1/kyc-token</code>.</p>`,
    );
  const type = (form?.get('kind') ?? query.get('kind')) === 'company' ? 'company' : 'individual';
  const applicant = await openFlow(applicants, token, type);
  // The user can switch between person and company until data is submitted.
  if (applicant.reviewStatus === 'init' && isEmpty(applicant.fixedInfo)) applicant.type = type;
  const title = statusTitle(applicant);
  if (title !== null)
    return sendPage(response, 200, title, html`<p>There is nothing you need to do right now.</p>`);
  if (form === null) return showForm(applicants, response, token, applicant);
  const outcome = (form.get('outcome') ?? 'approve') as Outcome;
  const person = readPerson(form);
  if (!Object.hasOwn(OUTCOMES, outcome) || !Check(Person, person))
    return sendPage(
      response,
      422,
      'Check your details',
      html`<p>Enter the country as two capital letters and the date of birth as YYYY-MM-DD.</p>`,
    );
  setPerson(applicant, person);
  await applicants.setStatus(applicant, 'pending');
  if (outcome === 'hold') await applicants.setStatus(applicant, 'onHold');
  else if (outcome !== 'pending') await applicants.setStatus(applicant, 'completed', RESULTS[outcome]);
  sendPage(
    response,
    200,
    'Done',
    html`<p>Decision for ${token.levelName}: <strong>${OUTCOMES[outcome]}</strong>.</p><p>You can close this page and return to the app.</p>`,
  );
}

/** Returns the title for an applicant who cannot submit anything now, or null. */
function statusTitle(applicant: Applicant): string | null {
  const { reviewStatus, reviewResult } = applicant;
  if (isUnderReview(applicant)) return 'Under review';
  if (reviewStatus !== 'completed' || reviewResult?.reviewRejectType === 'RETRY') return null;
  return reviewResult?.reviewAnswer === 'GREEN' ? 'You are verified' : 'You cannot be verified';
}

function showForm({ state }: Applicants, response: ServerResponse, token: Token, applicant: Applicant): void {
  const isCompany = applicant.type === 'company';
  const country = state.countries[token.userId] ?? DEFAULT_COUNTRY;
  const example = examplePerson(isCompany ? 'company' : 'person', country);
  const field = (name: string, label: string, value: string | undefined, attributes = html``) =>
    html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" value="${value ?? ''}" ${attributes}></div>`;
  const required = html`required`;
  const names = isCompany
    ? [field('company_name', 'Company name', example.company_name, required)]
    : [
        field('first_name', 'First name', example.first_name, required),
        field('middle_name', 'Middle name', ''),
        field('last_name', 'Last name', example.last_name, required),
        field('date_of_birth', 'Date of birth', example.date_of_birth, html`type="date" required`),
      ];
  sendPage(
    response,
    200,
    'Verify your identity',
    html`<p>Level: <strong>${token.levelName}</strong>. <a href="/flow?token=${token.token}&amp;kind=${isCompany ? 'individual' : 'company'}">${isCompany ? 'I am a person' : 'We are a company'}</a></p>
<form method="post" action="/flow"><input type="hidden" name="token" value="${token.token}"><input type="hidden" name="kind" value="${applicant.type}">
<fieldset><legend>${isCompany ? 'Company details' : 'Personal details'}</legend><div class="row">${names}${field('tax_id', 'Tax number', example.tax_id)}</div></fieldset>
<fieldset><legend>Address</legend><div class="row">${field('street', 'Street', example.address?.street)}${field('city', 'City', example.address?.city)}
${field('state', 'State or region', '')}${field('postal_code', 'Postal code', example.address?.postal_code)}${field('country', 'Country (two letters)', example.address?.country, html`pattern="[A-Z]{2}" maxlength="2"`)}</div></fieldset>
<fieldset><legend>Outcome of the review</legend>${Object.entries(OUTCOMES).map(
      ([value, label]) =>
        html`<label class="choice"><input type="radio" name="outcome" value="${value}" ${value === 'approve' && html`checked`}> ${label}</label>`,
    )}</fieldset><button class="main">Send</button></form>`,
  );
}

function readPerson(form: URLSearchParams): Person {
  const text = (name: string) => form.get(name)?.trim() || undefined;
  const fields = [
    'first_name',
    'middle_name',
    'last_name',
    'company_name',
    'date_of_birth',
    'tax_id',
  ] as const;
  const address = (['street', 'city', 'state', 'postal_code', 'country'] as const).flatMap((name) => {
    const value = text(name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries([
    ...fields.flatMap((name) => (text(name) === undefined ? [] : [[name, text(name)]])),
    ['address', Object.fromEntries(address)],
  ]);
}
