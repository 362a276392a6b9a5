import { type Html, html } from '../../kernel/html.ts';
import { field, hiddenField, notice } from './fields.ts';
import { ART } from './icons.ts';
import type { Page } from './layout.ts';
import { type FormState, withReturnPath } from './sign-in-page.ts';

export type RegisterState = FormState & {
  /** The app that the user comes from. */
  app: string | null;
  email?: string;
  kind?: string;
  problems?: { email?: string; password?: string; kind?: string };
};

export function registerPage({ csrf, returnPath, app, email, kind, problems = {} }: RegisterState): Page {
  const choice = (value: string, label: string) =>
    html`<label class="choice"><input type="radio" name="kind" value="${value}" required${(kind ?? 'person') === value && html` checked`}>${label}</label>`;
  return {
    title: 'Create your account',
    body: html`<h1>Create your account</h1>
<p class="lead">${app === null ? 'One account for every app on Causeway.' : html`Continue to <strong>${app}</strong>.`}</p>
${Object.keys(problems).length > 0 && notice('Check the highlighted fields.', true)}
<form method="post" action="/register">
${hiddenField('csrf', csrf)}${hiddenField('next', returnPath)}
<fieldset><legend>Account type</legend>
<div class="choices">${choice('person', 'Individual')}${choice('company', 'Company')}</div>
${problems.kind !== undefined && html`<p class="problem">${problems.kind}</p>`}
</fieldset>
${field({ name: 'email', label: 'Email', type: 'email', autocomplete: 'username', ...(email !== undefined && { value: email }), problem: problems.email })}
${field({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'new-password',
  hint: 'At least 10 characters. A few random words are easy to remember and hard to guess.',
  minlength: 10,
  problem: problems.password,
})}
<button type="submit">Create account</button>
</form>
<p class="after">Already have an account? <a href="${withReturnPath('/sign-in', returnPath)}">Sign in</a></p>`,
  };
}

type MailSent = {
  email: string;
  retryPath: string;
  /** The URL of the sandbox's mailbox. Only set in a sandbox. */
  mailboxUrl: string | undefined;
};

export function checkMailPage({ email, retryPath, mailboxUrl }: MailSent): Page {
  return {
    title: 'Check your email',
    body: html`${ART.mail}<h1>Check your email</h1>
<p class="lead">We sent a link to <strong>${email}</strong>. Open it in this browser to continue.</p>
<p class="soft small">It can take a minute. Check your spam folder, or <a href="${retryPath}">try again</a> if the address is wrong.</p>
${mailboxLink(mailboxUrl)}`,
  };
}

export function mailboxLink(url: string | undefined): Html | null {
  return url === undefined
    ? null
    : html`<a class="button quiet more" href="${url}" target="_blank" rel="noopener">Open the sandbox mailbox</a>`;
}

export type ConfirmState = {
  csrf: string;
  token: string;
  email: string;
  needsPassword: boolean;
  problem?: string;
};

/**
 * Returns the page that the link in the confirmation email opens. In the browser that registered, the page submits
 * itself, because that browser's cookie is proof enough. In any other browser, the page asks for the password, so link
 * scanners cannot confirm an email address.
 */
export function confirmPage({ csrf, token, email, needsPassword, problem }: ConfirmState): Page {
  return {
    title: 'Confirm your email',
    submits: !needsPassword && problem === undefined,
    body: html`<h1>Confirm your email</h1>
<p class="lead">Finish creating your account with <strong>${email}</strong>.</p>
<form method="post" action="/confirm">
${hiddenField('csrf', csrf)}${hiddenField('token', token)}
${
  needsPassword &&
  field({
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'current-password',
    hint: 'You’re in a different browser, so enter the password you chose when you signed up.',
    problem,
    autofocus: true,
  })
}
<button type="submit">Confirm email</button>
</form>
<p class="after small">Didn’t sign up? Close this page and no account will be created.</p>`,
  };
}
