import { type Html, html } from '../../kernel/html.ts';
import { ART, field, hiddenField, ICONS, notice, type Page } from './layout.ts';
import { messagePage } from './message-page.ts';

/** The state that every form on the page submits. */
export type FormState = { csrf: string; returnPath: string | null };

type SignInState = FormState & {
  app: string | null;
  email?: string;
  problem?: string;
  message?: string;
  passkeys: boolean;
  /** The localhost URL of the sign-in if passkeys work only on localhost, otherwise null. */
  passkeyUrl: string | null;
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

export function withReturnPath(path: string, returnPath: string | null): string {
  return returnPath === null ? path : `${path}?next=${encodeURIComponent(returnPath)}`;
}

type RegisterState = FormState & {
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

type ConfirmState = {
  csrf: string;
  token: string;
  email: string;
  needsPassword: boolean;
  problem?: string;
};

/**
 * In the browser that registered, the page submits itself, because that browser's cookie is proof enough. In any
 * other browser, it asks for the password, so link scanners cannot confirm an email address.
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

type LogoutState = {
  csrf: string;
  app: string | null;
  email: string;
  clientId: string | null;
  redirectUri: string | null;
  state: string | null;
};

export function logoutPage({ csrf, app, email, clientId, redirectUri, state }: LogoutState): Page {
  return {
    title: 'Sign out',
    body: html`<h1>Sign out of Causeway?</h1>
<p class="lead">${app !== null && html`<strong>${app}</strong> asked to sign you out. `}You’re signed in as <strong>${email}</strong>.</p>
<form method="post" action="/oauth/logout/confirm">
${hiddenField('csrf', csrf)}${hiddenField('client_id', clientId)}${hiddenField('post_logout_redirect_uri', redirectUri)}${hiddenField('state', state)}
<div class="pair"><a class="button quiet" href="/account">Stay signed in</a><button type="submit">Sign out</button></div>
</form>
<p class="after small">Connected apps keep their access. You can disconnect them in your <a href="/account">account</a>.</p>`,
  };
}

export function signedOutPage(): Page {
  return messagePage({
    title: 'You’re signed out',
    text: 'You can close this page.',
    action: { label: 'Sign in', href: '/sign-in' },
    art: 'done',
  });
}
