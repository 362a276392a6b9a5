import type { IncomingMessage, ServerResponse } from 'node:http';
import { Check } from 'typebox/schema';
import { readBody } from '../body.ts';
import { html, sendPage } from '../page.ts';
import type { Applicant, ReviewResult, Token } from './applicant.ts';
import type { Cases } from './cases.ts';
import { anyPerson, fillIn, isEmpty, Person } from './people.ts';

/** What a person can choose to happen. */
const OUTCOMES = {
  approve: 'Approve',
  retry: 'Reject for now: something has to be sent again',
  final: 'Reject for good',
  pending: 'Leave it under review',
  hold: 'Put it on hold for an officer',
} as const;
type Outcome = keyof typeof OUTCOMES;

const RESULTS: Partial<Record<Outcome, ReviewResult>> = {
  approve: { reviewAnswer: 'GREEN' },
  retry: { reviewAnswer: 'RED', reviewRejectType: 'RETRY', rejectLabels: ['UNSATISFACTORY_PHOTOS'] },
  final: { reviewAnswer: 'RED', reviewRejectType: 'FINAL', rejectLabels: ['FORGERY'] },
};

const UNTOUCHABLE = ['pending', 'queued', 'prechecked', 'onHold'];

/** `GET /flow?token=…` is the flow of the web SDK for a token; opening it makes the applicant, as the SDK does. */
export async function answerFlow(
  cases: Cases,
  now: number,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  const form = request.method === 'POST' ? new URLSearchParams(await readBody(request, 65_536)) : null;
  const wanted = form?.get('token') ?? query.get('token') ?? '';
  const token = cases.state.tokens.find((one) => one.token === wanted && one.expiresAt > now);
  if (token === undefined)
    return sendPage(
      response,
      404,
      'This link has expired',
      html`<p>Ask for a new token with <code>POST /v1/kyc-token</code>.</p>`,
    );
  const kind = (form?.get('kind') ?? query.get('kind')) === 'company' ? 'company' : 'individual';
  const applicant = await openFlow(cases, token, kind);
  // Who has sent nothing yet may still say that it is a company, or that it is not.
  if (applicant.reviewStatus === 'init' && isEmpty(applicant.fixedInfo)) applicant.type = kind;
  const over = overTitle(applicant);
  if (over !== null) return sendPage(response, 200, over, html`<p>There is nothing to do for now.</p>`);
  if (form === null) return showForm(cases, response, token, applicant);
  const outcome = (form.get('outcome') ?? 'approve') as Outcome;
  const person = readPerson(form);
  if (!Object.hasOwn(OUTCOMES, outcome) || !Check(Person, person))
    return sendPage(
      response,
      422,
      'Something is wrong',
      html`<p>The country is two capital letters, the date of birth YYYY-MM-DD.</p>`,
    );
  fillIn(applicant, person);
  await cases.move(applicant, 'pending');
  if (outcome === 'hold') await cases.move(applicant, 'onHold');
  else if (outcome !== 'pending') await cases.move(applicant, 'completed', RESULTS[outcome]);
  sendPage(
    response,
    200,
    'Done',
    html`<p>Decision for ${token.levelName}: <strong>${OUTCOMES[outcome]}</strong>.</p><p>You can close this page and go back to the app.</p>`,
  );
}

function overTitle({ reviewStatus, reviewResult }: Applicant): string | null {
  if (UNTOUCHABLE.includes(reviewStatus)) return 'Under review';
  if (reviewStatus !== 'completed' || reviewResult?.reviewRejectType === 'RETRY') return null;
  return reviewResult?.reviewAnswer === 'GREEN' ? 'You are verified' : 'You cannot be verified';
}

/** With a token of another level the applicant moves there by itself, unless somebody is at work on it. */
export async function openFlow(
  cases: Cases,
  { userId, levelName, email }: Pick<Token, 'userId' | 'levelName' | 'email'>,
  type: Applicant['type'],
): Promise<Applicant> {
  const known = cases.byUser(userId);
  if (known === undefined) {
    const { applicant, told } = cases.create({
      externalUserId: userId,
      type,
      levelName,
      ...(email !== undefined && { email }),
    });
    await told;
    return applicant;
  }
  if (known.levelName !== levelName && !UNTOUCHABLE.includes(known.reviewStatus))
    await cases.changeLevel(known, levelName);
  return known;
}

function showForm(cases: Cases, response: ServerResponse, token: Token, applicant: Applicant): void {
  const isCompany = applicant.type === 'company';
  const someone = anyPerson(isCompany ? 'company' : 'person', cases.state.countries[token.userId] ?? 'DE');
  const field = (name: string, label: string, value: string | undefined, more = '') =>
    html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" value="${value ?? ''}" ${{ html: more }}></div>`;
  const names = isCompany
    ? [field('company_name', 'Company name', someone.company_name, 'required')]
    : [
        field('first_name', 'First name', someone.first_name, 'required'),
        field('middle_name', 'Middle name', ''),
        field('last_name', 'Last name', someone.last_name, 'required'),
        field('date_of_birth', 'Date of birth', someone.date_of_birth, 'type="date" required'),
      ];
  sendPage(
    response,
    200,
    'Verify your identity',
    html`<p>Level: <strong>${token.levelName}</strong>. <a href="/flow?token=${token.token}&amp;kind=${isCompany ? 'individual' : 'company'}">${isCompany ? 'I am a person' : 'We are a company'}</a></p>
<form method="post" action="/flow"><input type="hidden" name="token" value="${token.token}"><input type="hidden" name="kind" value="${applicant.type}">
<fieldset><legend>Who you are</legend><div class="row">${names}${field('tax_id', 'Tax number', someone.tax_id)}</div></fieldset>
<fieldset><legend>Where you live</legend><div class="row">${field('street', 'Street', someone.address?.street)}${field('city', 'City', someone.address?.city)}
${field('state', 'State or region', '')}${field('postal_code', 'Postal code', someone.address?.postal_code)}${field('country', 'Country (two letters)', someone.address?.country, 'pattern="[A-Z]{2}" maxlength="2"')}</div></fieldset>
<fieldset><legend>What shall the provider decide?</legend>${Object.entries(OUTCOMES).map(
      ([value, label]) =>
        html`<label class="choice"><input type="radio" name="outcome" value="${value}" ${{ html: value === 'approve' ? 'checked' : '' }}> ${label}</label>`,
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
