import { html } from '../../kernel/html.ts';
import { field, hiddenField } from './fields.ts';
import { ART } from './icons.ts';
import type { Page } from './layout.ts';
import { mailboxLink } from './register-pages.ts';

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
