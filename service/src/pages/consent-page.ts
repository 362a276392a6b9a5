import { SCOPES } from '../http/access.ts';
import { hiddenField } from './fields.ts';
import { type Html, html } from './html.ts';
import { LOGO, type Page } from './layout.ts';

export type Partner = { name: string; logoUrl: string | null };

export type ConsentState = {
  csrf: string;
  path: string;
  partner: Partner;
  email: string;
  scopes: readonly string[];
  /** The host of the redirect URI, to which the browser returns. */
  redirectHost: string;
};

const CHECK_ICON = html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="m4.5 10.5 3.5 3.5 7.5-8"/></svg>`;
const DOTS_ICON = html`<svg class="dots" viewBox="0 0 36 4" fill="currentColor" aria-hidden="true"><circle cx="4" cy="2" r="2"/><circle cx="18" cy="2" r="2"/><circle cx="32" cy="2" r="2"/></svg>`;

export function consentPage({ csrf, path, partner, email, scopes, redirectHost }: ConsentState): Page {
  return {
    title: `Connect ${partner.name}`,
    body: html`<div class="parties">${partnerLogo(partner)}${DOTS_ICON}<span class="logo own">${LOGO}</span></div>
<h1>${partner.name} wants to access your account</h1>
<div class="who inline soft"><span>Signed in as <strong>${email}</strong></span>
<form method="post" action="/sign-out">${hiddenField('csrf', csrf)}${hiddenField('next', path)}<button class="link" type="submit">Not you?</button></form></div>
<p>${partner.name} will be able to:</p>
<ul class="grants">${scopes.map((scope) => html`<li>${CHECK_ICON}<span>${describeScope(scope)}</span></li>`)}</ul>
<form method="post" action="${path}">
${hiddenField('csrf', csrf)}
<div class="pair"><button class="quiet" type="submit" name="decision" value="deny">Deny</button><button type="submit" name="decision" value="allow">Allow</button></div>
</form>
<p class="after small">You’ll return to <strong>${redirectHost}</strong>. You can disconnect ${partner.name} anytime in your <a href="/account">account</a>.</p>`,
  };
}

export function describeScope(scope: string): string {
  return scope in SCOPES ? SCOPES[scope as keyof typeof SCOPES] : scope;
}

/**
 * Renders the partner's logo, or its initial. It has no alternative text, because the partner's name is
 * always next to it.
 */
export function partnerLogo({ name, logoUrl }: Partner): Html {
  if (logoUrl !== null)
    return html`<img class="logo" src="${logoUrl}" alt="" width="48" height="48" referrerpolicy="no-referrer">`;
  return html`<span class="logo" aria-hidden="true">${([...name][0] ?? '').toUpperCase()}</span>`;
}
