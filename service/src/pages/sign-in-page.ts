import { field, hiddenField, notice } from './fields.ts';
import { type Html, html } from './html.ts';
import type { Page } from './layout.ts';

/** The state that every form on the page submits. */
export type FormState = { csrf: string; returnPath: string | null };

export type SignInState = FormState & {
  /** The app that the user comes from. */
  app: string | null;
  email?: string;
  problem?: string;
  message?: string;
  passkeys: boolean;
};

export const KEY_ICON = html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><circle cx="8" cy="12" r="4.5"/><path d="M12.5 12H22M18 12v4M21.5 12v2.5"/></svg>`;

export function signInPage(state: SignInState): Page {
  const { csrf, returnPath, app, email, problem, message, passkeys } = state;
  return {
    title: 'Sign in',
    passkeys,
    body: html`<h1>Sign in</h1>
<p class="lead">${app === null ? 'Welcome back.' : html`Continue to <strong>${app}</strong>.`}</p>
${notice(problem, true)}${notice(message)}
<form method="post" action="/sign-in">
${hiddenField('csrf', csrf)}${hiddenField('next', returnPath)}
${field({ name: 'email', label: 'Email', type: 'email', autocomplete: 'username', ...(email !== undefined && { value: email }), autofocus: email === undefined })}
${field({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
  autofocus: email !== undefined,
  aside: html`<a class="small" href="${withReturnPath('/forgot', returnPath)}">Forgot password?</a>`,
})}
<button type="submit">Sign in</button>
</form>
${passkeys && passkeySignIn(state)}
<p class="after">New to Causeway? <a href="${withReturnPath('/register', returnPath)}">Create an account</a></p>`,
  };
}

function passkeySignIn({ csrf, returnPath }: FormState): Html {
  return html`<div hidden data-passkey="sign-in" data-csrf="${csrf}" data-next="${returnPath ?? ''}">
<p class="or">or</p>
<button type="button" class="quiet">${KEY_ICON}Sign in with a passkey</button>
<p class="problem" role="alert" hidden></p>
</div>`;
}

/** Appends the return path as the `next` parameter. */
export function withReturnPath(path: string, returnPath: string | null): string {
  return returnPath === null ? path : `${path}?next=${encodeURIComponent(returnPath)}`;
}
