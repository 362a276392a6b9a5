import { encode } from 'uqr';
import { type Html, html } from '../../kernel/html.ts';
import { ART, field, hiddenField, notice, type Page } from './layout.ts';
import { type FormState, mailboxLink, withReturnPath } from './sign-in-page.ts';

export function forgotPage({
  csrf,
  returnPath,
  problem,
  email,
}: FormState & { problem?: string; email?: string }): Page {
  return {
    title: 'Forgot password',
    body: html`<h1>Forgot your password?</h1>
<p class="lead">Enter your email and we’ll send you a link to set a new one.</p>
<form method="post" action="/forgot">
${hiddenField('csrf', csrf)}
${field({ name: 'email', label: 'Email', type: 'email', autocomplete: 'username', ...(email !== undefined && { value: email }), problem, autofocus: true })}
<button type="submit">Send link</button>
</form>
<p class="after"><a href="${withReturnPath('/sign-in', returnPath)}">Back to sign in</a></p>`,
  };
}

export function resetPage({
  csrf,
  token,
  email,
  passkeys,
  removesPasskeys = false,
  problem,
}: {
  csrf: string;
  token: string;
  email: string;
  passkeys: number;
  removesPasskeys?: boolean;
  problem?: string;
}): Page {
  return {
    title: 'Set a new password',
    body: html`<h1>Set a new password</h1>
<p class="lead">For <strong>${email}</strong>. You’ll be signed out everywhere, and connected apps will need your permission again.</p>
<form method="post" action="/reset">
${hiddenField('csrf', csrf)}${hiddenField('token', token)}
<input type="email" name="username" value="${email}" autocomplete="username" readonly hidden disabled>
${field({ name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password', hint: 'At least 10 characters.', minlength: 10, problem, autofocus: true })}
${
  passkeys > 0 &&
  html`<div class="field"><label class="choice"><input type="checkbox" name="remove_passkeys" value="yes"${removesPasskeys && html` checked`}>Remove ${passkeys === 1 ? 'the passkey' : `all ${passkeys} passkeys`} of this account</label>
<p class="hint">Do this if someone else may have added one.</p></div>`
}
<button type="submit">Set password</button>
</form>`,
  };
}

export function changePasswordPage({
  csrf,
  email,
  problem,
}: {
  csrf: string;
  email: string;
  problem?: string;
}): Page {
  return {
    title: 'Change password',
    body: html`<h1>Change password</h1>
<p class="lead">We’ll sign you out of every other browser. Connected apps stay connected.</p>
<form method="post" action="/account/password">
${hiddenField('csrf', csrf)}
<input type="email" name="username" value="${email}" autocomplete="username" readonly hidden disabled>
${field({ name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password', hint: 'At least 10 characters.', minlength: 10, problem, autofocus: true })}
<button type="submit">Change password</button>
</form>
<p class="after"><a href="/account">Back to your account</a></p>`,
  };
}

export function changeEmailPage({
  csrf,
  current,
  email,
  problem,
}: {
  csrf: string;
  current: string;
  email?: string;
  problem?: string;
}): Page {
  return {
    title: 'Change email',
    body: html`<h1>Change email</h1>
<p class="lead">You sign in with <strong>${current}</strong>. We’ll send a link to the new address, and let you know at the old one.</p>
<form method="post" action="/account/email">
${hiddenField('csrf', csrf)}
${field({ name: 'email', label: 'New email', type: 'email', autocomplete: 'email', ...(email !== undefined && { value: email }), problem, autofocus: true })}
<button type="submit">Send link</button>
</form>
<p class="after"><a href="/account">Back to your account</a></p>`,
  };
}

export function emailChangeSentPage(email: string, mailboxUrl: string | undefined): Page {
  return {
    title: 'Check your email',
    body: html`${ART.mail}<h1>Check your email</h1>
<p class="lead">We sent a link to <strong>${email}</strong>. Open it in this browser. Until then, nothing changes.</p>
<p class="soft small">It can take a minute. Check your spam folder, or <a href="/account/email">try again</a> if the address is wrong.</p>
${mailboxLink(mailboxUrl)}`,
  };
}

export function confirmEmailPage({
  csrf,
  token,
  email,
}: {
  csrf: string;
  token: string;
  email: string;
}): Page {
  return {
    title: 'Confirm your new email',
    body: html`<h1>Confirm your new email</h1>
<p class="lead">From now on, you’ll sign in with <strong>${email}</strong>.</p>
<form method="post" action="/account/email/confirm">
${hiddenField('csrf', csrf)}${hiddenField('token', token)}
<button type="submit">Use this email</button>
</form>
<p class="after"><a href="/account">Keep the old one</a></p>`,
  };
}

export function totpPage({
  csrf,
  secret,
  uri,
  problem,
}: {
  csrf: string;
  secret: string;
  uri: string;
  problem?: string;
}): Page {
  const grouped = (secret.match(/.{4}/g) ?? []).join(' ');
  return {
    title: 'Two-step sign-in',
    body: html`<h1>Two-step sign-in</h1>
<p class="lead">Signing in with your password will also take a code from an authenticator app, such as 1Password, Google Authenticator or Apple Passwords.</p>
<ol class="steps">
<li><p>Scan this code with the app, or <a href="${uri}">open it on this device</a>.</p>
<div class="qr">${qrCode(uri)}</div>
<details><summary>Can’t scan it?</summary><p>Enter this key in the app: <code class="secret">${grouped}</code></p></details></li>
<li><form method="post" action="/account/second-factor">
${hiddenField('csrf', csrf)}
${field({ name: 'code', label: 'Enter the 6-digit code that the app shows', type: 'text', autocomplete: 'one-time-code', inputmode: 'numeric', problem, autofocus: true })}
<button type="submit">Turn on</button>
</form></li></ol>
<p class="after"><a href="/account">Not now</a></p>`,
  };
}

/** Renders the text as an inline SVG. The code is dark on light in both themes, as scanners require. */
function qrCode(text: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return html`<svg viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${path}"/></svg>`;
}

export function recoveryCodesPage(codes: readonly string[]): Page {
  return {
    title: 'Save your recovery codes',
    body: html`<h1>Save your recovery codes</h1>
<p class="lead">Two-step sign-in is on. If you lose your phone, each of these codes signs you in once. We can’t show them again.</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<p class="soft small">Print them or keep them in a password manager.</p>
<a class="button" href="/account?notice=second_factor_on">I saved them</a>`,
  };
}

/** The message for `restricted` gives no reason, because users must not learn why they are restricted. */
const BLOCKS = {
  open_participations:
    'You have an investment or a refund in progress. You can delete your account once it’s final. We’ll email you about the outcome.',
  live_orders:
    'You have an open order. You can delete your account once it has been executed or has expired.',
  allowed_wallets:
    'Your wallet is on an offer’s allow-list. We’re removing it from the list. Try again in a few minutes.',
  restricted: 'Your account can’t be deleted right now. Contact support.',
} as const;

type DeleteState = { csrf: string; email: string; block: keyof typeof BLOCKS | null; problem?: string };

export function deletePage({ csrf, email, block, problem }: DeleteState): Page {
  if (block !== null)
    return {
      title: 'You can’t delete your account yet',
      body: html`${ART.wait}<h1>You can’t delete your account yet</h1>
<p class="lead">${BLOCKS[block]}</p>
<a class="button quiet" href="/account">Back to your account</a>`,
    };
  return {
    title: 'Delete your account',
    body: html`<h1>Delete your account</h1>
<p class="lead">You’re about to delete <strong>${email}</strong>. This can’t be undone.</p>
${notice(problem, true)}
<ul class="points">
<li>You won’t be able to sign in, and all apps are disconnected.</li>
<li>Tokens in your wallet stay yours.</li>
<li>We delete your personal data. Records that the law requires, such as your investments and identity checks, are locked and deleted when their retention ends.</li>
</ul>
<form method="post" action="/account/delete">${hiddenField('csrf', csrf)}
<label class="choice"><input type="checkbox" name="confirm" value="yes" required>I want to delete my account</label>
<div class="pair more"><a class="button quiet" href="/account">Cancel</a><button class="solid-danger" type="submit">Delete account</button></div>
</form>`,
  };
}
