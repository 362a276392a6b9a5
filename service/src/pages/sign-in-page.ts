import { field, hiddenField, notice } from './fields.ts';
import { type Html, html } from './html.ts';
import type { Page } from './layout.ts';

/** What every form of a visit carries along. */
export type FormState = { csrf: string; next: string | null };

export type SignInState = FormState & {
  /** The app that the user comes from. */
  app: string | null;
  email?: string;
  problem?: string;
  message?: string;
  passkeys: boolean;
};

export function signInPage(state: SignInState): Page {
  const { csrf, next, app, email, problem, message, passkeys } = state;
  return {
    title: 'Sign in',
    passkeys,
    body: html`<h1>Sign in</h1>
<p class="lead">${app === null ? 'To your Causeway account.' : html`To continue to <strong>${app}</strong>.`}</p>
${notice(problem, true)}${notice(message)}
<form method="post" action="/sign-in">
${hiddenField('csrf', csrf)}${hiddenField('next', next)}
${field({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username', ...(email !== undefined && { value: email }), autofocus: email === undefined })}
${field({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
  autofocus: email !== undefined,
  aside: html`<a class="small" href="${withNext('/forgot', next)}">Forgotten?</a>`,
})}
<button type="submit">Sign in</button>
</form>
${passkeys && passkeySignIn(state)}
<p class="after">New here? <a href="${withNext('/register', next)}">Create an account</a></p>`,
  };
}

function passkeySignIn({ csrf, next }: FormState): Html {
  return html`<div hidden data-passkey="sign-in" data-csrf="${csrf}" data-next="${next ?? ''}">
<p class="or">or</p>
<button type="button" class="quiet">${KEY}Sign in with a passkey</button>
<p class="problem" role="alert" hidden></p>
</div>`;
}

export const KEY = html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><circle cx="8" cy="12" r="4.5"/><path d="M12.5 12H22M18 12v4M21.5 12v2.5"/></svg>`;

export function withNext(path: string, next: string | null): string {
  return next === null ? path : `${path}?next=${encodeURIComponent(next)}`;
}
