import { SCOPES, type Scope } from '../../kernel/access.ts';
import { type Html, html } from '../../kernel/html.ts';
import { hiddenField, ICONS, LOGO, type Page } from './layout.ts';

type Partner = { name: string; logoUrl: string | null };

type ConsentState = {
  csrf: string;
  path: string;
  partner: Partner;
  email: string;
  scopes: readonly string[];
  redirectHost: string;
};

const DOTS_ICON = html`<svg class="dots" viewBox="0 0 36 4" fill="currentColor" aria-hidden="true"><circle cx="4" cy="2" r="2"/><circle cx="18" cy="2" r="2"/><circle cx="32" cy="2" r="2"/></svg>`;

const GROUPS = {
  see: { title: 'See', icon: ICONS.eye },
  do: { title: 'Do', icon: ICONS.pen },
  sensitive: { title: 'Sensitive', icon: ICONS.shield },
} as const;

/** How the consent page groups the scopes. If a scope has no group, the code does not compile. */
const SCOPE_GROUPS: Record<Scope, keyof typeof GROUPS> = {
  'offers:read': 'see',
  'requirements:read': 'see',
  'participations:read': 'see',
  'wallets:read': 'see',
  'swaps:read': 'see',
  'events:read': 'see',
  openid: 'see',
  'participations:write': 'do',
  'wallets:write': 'do',
  'identity:write': 'do',
  'documents:write': 'do',
  'swaps:write': 'do',
  'webhooks:write': 'do',
  offline_access: 'do',
  email: 'sensitive',
  'pii:read': 'sensitive',
};

/**
 * The sensitive scopes come first and, on phones, the buttons stay at the bottom, so that both are visible without
 * scrolling.
 */
export function consentPage({ csrf, path, partner, email, scopes, redirectHost }: ConsentState): Page {
  return {
    title: `Connect ${partner.name}`,
    body: html`<div class="parties">${partnerLogo(partner)}${DOTS_ICON}<span class="logo own">${LOGO}</span></div>
<h1>${partner.name} wants to access your account</h1>
<div class="who inline soft"><span>Signed in as <strong>${email}</strong></span>
<form method="post" action="/sign-out">${hiddenField('csrf', csrf)}${hiddenField('next', path)}<button class="link" type="submit">Not you?</button></form></div>
<p>${partner.name} will be able to:</p>
<div class="grants">${(['sensitive', 'do', 'see'] as const).map((name) => scopeGroup(name, scopes))}</div>
<p class="soft small">You’ll return to <strong>${redirectHost}</strong>. You can disconnect ${partner.name} anytime in your <a href="/account">account</a>.</p>
<form class="decision" method="post" action="${path}">
${hiddenField('csrf', csrf)}
<p class="promise">${ICONS.wallet}<span><strong>Only your wallet can move money.</strong> ${partner.name} can’t.</span></p>
<div class="pair"><button class="quiet" type="submit" name="decision" value="deny">Deny</button><button type="submit" name="decision" value="allow">Allow</button></div>
</form>`,
  };
}

function scopeGroup(name: keyof typeof GROUPS, scopes: readonly string[]): Html | null {
  const own = scopes.filter((scope) => groupOf(scope) === name);
  if (own.length === 0) return null;
  const { title, icon } = GROUPS[name];
  return html`<div class="grant-group ${name}">${icon}<div><h2>${title}</h2>
<ul>${own.map((scope) => html`<li>${describeScope(scope)}</li>`)}</ul></div></div>`;
}

/** An unknown scope counts as sensitive, because nobody knows what it allows. */
function groupOf(scope: string): keyof typeof GROUPS {
  return scope in SCOPE_GROUPS ? SCOPE_GROUPS[scope as Scope] : 'sensitive';
}

export function describeScope(scope: string): string {
  return scope in SCOPES ? SCOPES[scope as keyof typeof SCOPES] : scope;
}

/** Adds no alternative text, because the name is always next to the logo. */
export function partnerLogo({ name, logoUrl }: Partner): Html {
  if (logoUrl !== null)
    return html`<img class="logo" src="${logoUrl}" alt="" width="48" height="48" referrerpolicy="no-referrer">`;
  return html`<span class="logo" aria-hidden="true">${([...name][0] ?? '').toUpperCase()}</span>`;
}
