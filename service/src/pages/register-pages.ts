import { field, hiddenField, notice } from './fields.ts';
import { html } from './html.ts';
import type { Page } from './layout.ts';
import { type FormState, withNext } from './sign-in-page.ts';

export type RegisterState = FormState & {
  app: string | null;
  email?: string;
  kind?: string;
  problems?: { email?: string; password?: string; kind?: string };
};

export function registerPage({ csrf, next, app, email, kind, problems = {} }: RegisterState): Page {
  const choice = (value: string, label: string) =>
    html`<label class="choice"><input type="radio" name="kind" value="${value}" required${(kind ?? 'person') === value && html` checked`}>${label}</label>`;
  return {
    title: 'Create an account',
    body: html`<h1>Create an account</h1>
<p class="lead">${app === null ? 'One account for every app that works with Causeway.' : html`To continue to <strong>${app}</strong>.`}</p>
${Object.keys(problems).length > 0 && notice('Something is not right yet. See below.', true)}
<form method="post" action="/register">
${hiddenField('csrf', csrf)}${hiddenField('next', next)}
<fieldset><legend>Who invests?</legend>
<div class="choices">${choice('person', 'A person')}${choice('company', 'A company')}</div>
${problems.kind !== undefined && html`<p class="problem">${problems.kind}</p>`}
</fieldset>
${field({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username', ...(email !== undefined && { value: email }), problem: problems.email })}
${field({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'new-password',
  hint: 'At least 10 characters. A few words are easier to remember than symbols.',
  minlength: 10,
  problem: problems.password,
})}
<button type="submit">Create account</button>
</form>
<p class="after">Have an account? <a href="${withNext('/sign-in', next)}">Sign in</a></p>`,
  };
}

export function checkMailPage(email: string, again: '/register' | '/forgot'): Page {
  return {
    title: 'Check your mail',
    body: html`<h1>Check your mail</h1>
<p class="lead">We have sent a link to <strong>${email}</strong>. Open it in this browser to go on.</p>
<p class="soft small">It can take a minute. Look in your spam folder too, or <a href="${again}">try again</a> if the address is wrong.</p>`,
  };
}

export type ConfirmState = {
  csrf: string;
  token: string;
  email: string;
  needsPassword: boolean;
  problem?: string;
};

export function confirmPage({ csrf, token, email, needsPassword, problem }: ConfirmState): Page {
  return {
    title: 'Confirm your e-mail',
    body: html`<h1>Confirm your e-mail</h1>
<p class="lead">Is <strong>${email}</strong> your address, and did you create this account?</p>
<form method="post" action="/confirm">
${hiddenField('csrf', csrf)}${hiddenField('token', token)}
${
  needsPassword &&
  field({
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'current-password',
    hint: 'The one you chose when you created the account: this is another browser.',
    problem,
    autofocus: true,
  })
}
<button type="submit">Confirm and go on</button>
</form>
<p class="after small">Not you? Close this page. Without your confirmation there is no account.</p>`,
  };
}
