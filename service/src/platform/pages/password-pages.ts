import { html } from '../../kernel/html.ts';
import { field, hiddenField } from './fields.ts';
import type { Page } from './layout.ts';
import { type FormState, withReturnPath } from './sign-in-page.ts';

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
  /** How many passkeys the account has. */
  passkeys: number;
  /** Whether the user has chosen to remove the passkeys. */
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
