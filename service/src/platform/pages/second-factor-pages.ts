import { encode } from 'uqr';
import { type Html, html } from '../../kernel/html.ts';
import { field, hiddenField } from './fields.ts';
import type { Page } from './layout.ts';

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
