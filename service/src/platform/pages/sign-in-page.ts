import { type Html, html } from '../../kernel/html.ts';
import { field, hiddenField, notice } from './fields.ts';
import { ICONS } from './icons.ts';
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
  /** The localhost URL of the sign-in if passkeys work only on localhost, otherwise null. */
  passkeyUrl: string | null;
  /** Whether the user already has a session and is signing in again. */
  isSignedIn?: boolean;
  /** The stronger sign-in that the app asks for. Set only if the user's current session is not strong enough. */
  stepUp?: 'passkey' | 'two factors';
};

const STEP_UPS = {
  passkey: 'asks for more security. Sign in with your passkey.',
  'two factors': 'asks for more security. Sign in with your passkey, or with your password and a code.',
} as const;

export function signInPage(state: SignInState): Page {
  const { returnPath, app, problem, message, passkeys, passkeyUrl, stepUp, isSignedIn } = state;
  return {
    title: 'Sign in',
    passkeys,
    body: html`<h1>Sign in</h1>
<p class="lead">${app === null ? 'Welcome back.' : html`Continue to <strong>${app}</strong>.`}</p>
${notice(problem, true)}${notice(message)}${stepUp !== undefined && notice(`${app} ${STEP_UPS[stepUp]}`)}
${stepUp !== 'passkey' && passwordForm(state)}
${passkeys && passkeySignIn(state)}
${passkeyUrl !== null && passkeyLink(passkeyUrl, stepUp)}
${stepUp === undefined && isSignedIn !== true && html`<p class="after">New to Causeway? <a href="${withReturnPath('/register', returnPath)}">Create an account</a></p>`}`,
  };
}

function passwordForm({ csrf, returnPath, email }: SignInState): Html {
  return html`<form method="post" action="/sign-in">
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
</form>`;
}

/** Asks for the second factor. */
export function codePage({ csrf, returnPath, problem }: FormState & { problem?: string }): Page {
  return {
    title: 'Enter your code',
    body: html`<h1>Enter your code</h1>
<p class="lead">Open your authenticator app and enter the 6-digit code for Causeway.</p>
<form method="post" action="/sign-in/code">
${hiddenField('csrf', csrf)}${hiddenField('next', returnPath)}
${field({ name: 'code', label: 'Code', type: 'text', autocomplete: 'one-time-code', inputmode: 'text', hint: 'No access to the app? Enter one of your recovery codes.', problem, autofocus: true })}
<button type="submit">Continue</button>
</form>
<p class="after"><a href="${withReturnPath('/sign-in', returnPath)}">Back to sign in</a></p>`,
  };
}

function passkeySignIn({ csrf, returnPath, stepUp }: SignInState): Html {
  return html`<div hidden data-passkey="sign-in" data-csrf="${csrf}" data-next="${returnPath ?? ''}">
${stepUp !== 'passkey' && html`<p class="or">or</p>`}
<button type="button"${stepUp !== 'passkey' && html` class="quiet"`}>${ICONS.key}Sign in with a passkey</button>
<p class="problem" role="alert" hidden></p>
</div>
${stepUp === 'passkey' && html`<noscript><p class="soft small">Turn on JavaScript to sign in with a passkey.</p></noscript>`}`;
}

function passkeyLink(url: string, stepUp: SignInState['stepUp']): Html {
  return html`${stepUp !== 'passkey' && html`<p class="or">or</p>`}
<a class="button quiet" href="${url}">${ICONS.key}Use a passkey on localhost</a>
<p class="hint">This sandbox runs at an IP address. Passkeys need a name, so they work at localhost.</p>`;
}

/** Appends the return path as the `next` parameter. */
export function withReturnPath(path: string, returnPath: string | null): string {
  return returnPath === null ? path : `${path}?next=${encodeURIComponent(returnPath)}`;
}
