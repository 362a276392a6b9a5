import { type Html, html } from '../../kernel/html.ts';
import type { ConnectedApp } from '../../kernel/model/connected-app.ts';
import { describeScope, partnerLogo } from './consent-page.ts';
import type { Page } from './layout.ts';
import { emptyState, hiddenField, ICONS, notice } from './layout.ts';
import { type MailPreferences, mailPreferences } from './message-page.ts';

type AccountState = {
  csrf: string;
  user: { email: string; kind: 'person' | 'company' };
  /** The account code, which identifies the user. Wallets show it when they ask for a signature. */
  code: string;
  apps: readonly ConnectedApp[];
  passkeys: readonly { id: string; name: string; inserted_at: string; last_used_at: string | null }[];
  canAddPasskeys: boolean;
  /** The localhost URL of this page if passkeys work only on localhost, otherwise null. */
  passkeyUrl: string | null;
  secondFactor: { isOn: boolean; recoveryCodes: number };
  sessions: readonly {
    id: string;
    browser: string | null;
    network: string;
    signed_in_at: string;
    used_at: string;
  }[];
  sessionId: string;
  mails: MailPreferences;
  message?: string;
};

export function accountPage(state: AccountState): Page {
  const { csrf, user, code, message, canAddPasskeys } = state;
  return {
    title: 'Your account',
    wide: true,
    passkeys: canAddPasskeys,
    body: html`<h1>Your account</h1>
<div class="who soft"><span><strong>${user.email}</strong> · ${user.kind === 'person' ? 'Individual' : 'Company'}</span>
<form method="post" action="/sign-out">${hiddenField('csrf', csrf)}<button class="link" type="submit">Sign out</button></form></div>
${notice(message)}
<div class="account-code">${ICONS.wallet}<div><p class="name">Account code <code>${code}</code></p>
<p class="soft small">Your wallet shows this code when it asks you to sign. If the code differs, don’t sign.</p></div></div>
${apps(state)}
${signIn(state)}
${passkeys(state)}
${sessions(state)}
${mailPreferences(csrf, state.mails)}
${data(csrf)}`,
  };
}

function apps({ csrf, apps }: AccountState): Html {
  const row = (app: ConnectedApp) => html`<li>${partnerLogo({ name: app.name, logoUrl: app.logo_url })}
<div><p class="name">${app.name}</p><p class="soft small">Connected on ${formatDate(app.connected_at)}</p></div>
<form method="post" action="/account/disconnect">${hiddenField('csrf', csrf)}${hiddenField('client_id', app.client_id)}<button class="quiet slim" type="submit" aria-label="Disconnect ${app.name}">Disconnect</button></form>
<details><summary>Permissions</summary><ul>${app.scopes.map((scope) => html`<li>${describeScope(scope)}</li>`)}</ul></details></li>`;
  return html`<section aria-labelledby="apps"><h2 id="apps">Connected apps</h2>
${apps.length === 0 ? emptyState('apps', 'You haven’t connected any apps.') : html`<ul class="rows">${apps.map(row)}</ul>`}</section>`;
}

function signIn({ csrf, user, secondFactor: { isOn, recoveryCodes } }: AccountState): Html {
  const left = recoveryCodes === 1 ? '1 recovery code left' : `${recoveryCodes} recovery codes left`;
  return html`<section aria-labelledby="sign-in"><h2 id="sign-in">Sign-in</h2>
<ul class="rows">
<li class="plain"><div><p class="name">Email</p><p class="soft small">${user.email}</p></div>
<a class="button quiet slim" href="/account/email" aria-label="Change email">Change</a></li>
<li class="plain"><div><p class="name">Password</p><p class="soft small">Changing it signs you out of every other browser.</p></div>
<a class="button quiet slim" href="/account/password" aria-label="Change password">Change</a></li>
<li class="plain"><div><p class="name">Two-step sign-in <span class="badge${isOn && ' good'}">${isOn ? 'On' : 'Off'}</span></p>
<p class="soft small">${isOn ? `Signing in with your password also takes a code from your authenticator app. ${left}.` : 'Protect your password with a code from an authenticator app.'}</p></div>
${
  isOn
    ? html`<form method="post" action="/account/second-factor/remove">${hiddenField('csrf', csrf)}<button class="quiet slim" type="submit" aria-label="Turn off two-step sign-in">Turn off</button></form>`
    : html`<a class="button quiet slim" href="/account/second-factor" aria-label="Set up two-step sign-in">Set up</a>`
}</li></ul></section>`;
}

function passkeys({ csrf, passkeys, canAddPasskeys, passkeyUrl }: AccountState): Html {
  const row = ({
    id,
    name,
    inserted_at,
    last_used_at,
  }: AccountState['passkeys'][number]) => html`<li class="plain">
<div><p class="name">${name}</p><p class="soft small">Added on ${formatDate(inserted_at)}${last_used_at !== null && `, last used on ${formatDate(last_used_at)}`}</p></div>
<form method="post" action="/account/passkeys/remove">${hiddenField('csrf', csrf)}${hiddenField('id', id)}<button class="quiet slim" type="submit">Remove</button></form></li>`;
  return html`<section aria-labelledby="passkeys"><h2 id="passkeys">Passkeys</h2>
<p class="soft">Sign in with your fingerprint, face or security key instead of your password.</p>
${passkeys.length > 0 ? html`<ul class="rows">${passkeys.map(row)}</ul>` : emptyState('passkeys', 'You don’t have any passkeys yet.')}
${
  canAddPasskeys
    ? html`<div class="more" hidden data-passkey="add" data-csrf="${csrf}"><button type="button" class="quiet">${ICONS.key}Add a passkey</button><p class="problem" role="alert" hidden></p></div>
<noscript><p class="soft small more">Turn on JavaScript to add a passkey.</p></noscript>`
    : html`<p class="soft small more">Passkeys aren’t available at this address. They need a domain name instead of an IP address.${passkeyUrl !== null && html` <a href="${passkeyUrl}">Open your account on localhost</a>`}</p>`
}</section>`;
}

function sessions({ csrf, sessions, sessionId }: AccountState): Html {
  const row = ({ id, browser, network, signed_in_at, used_at }: AccountState['sessions'][number]) => {
    const name = browser ?? 'Unknown browser';
    const isPhone = /iPhone|Android/.test(name);
    return html`<li>${isPhone ? ICONS.phone : ICONS.laptop}
<div><p class="name">${name}${id === sessionId && html` <span class="badge good">This browser</span>`}</p>
<p class="soft small">Network ${network} · Signed in ${formatTime(signed_in_at)}${id !== sessionId && ` · Last used ${formatTime(used_at)}`}</p></div>
${id !== sessionId && html`<form method="post" action="/account/sessions/end">${hiddenField('csrf', csrf)}${hiddenField('id', id)}<button class="quiet slim" type="submit" aria-label="Sign out of ${name}">Sign out</button></form>`}</li>`;
  };
  return html`<section aria-labelledby="sessions"><h2 id="sessions">Where you’re signed in</h2>
<ul class="rows">${sessions.map(row)}</ul>
<form class="more" method="post" action="/account/sessions/end-all">${hiddenField('csrf', csrf)}<button class="quiet slim" type="submit">Sign out everywhere</button></form></section>`;
}

function data(csrf: string): Html {
  return html`<section aria-labelledby="data"><h2 id="data">Your data</h2>
<ul class="rows">
<li class="plain"><div><p class="name">Download your data</p><p class="soft small">Your profile, identity checks, tax forms, wallets, investments and connected apps, as a JSON file.</p></div>
<form method="post" action="/account/export">${hiddenField('csrf', csrf)}<button class="quiet slim" type="submit" aria-label="Download your data">Download</button></form></li>
<li class="plain"><div><p class="name">Delete your account</p><p class="soft small">Possible once no investment, order or refund is open.</p></div>
<a class="button quiet slim danger" href="/account/delete" aria-label="Delete your account">Delete</a></li></ul></section>`;
}

function formatDate(timestamp: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(
    new Date(timestamp),
  );
}

function formatTime(timestamp: string): string {
  const format = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const;
  return `${new Intl.DateTimeFormat('en-GB', format).format(new Date(timestamp))} UTC`;
}
