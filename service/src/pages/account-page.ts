import type { ConnectedApp } from '../oauth/connected-app.ts';
import { describeScope, partnerLogo } from './consent-page.ts';
import { hiddenField, notice } from './fields.ts';
import { type Html, html } from './html.ts';
import type { Page } from './layout.ts';
import { type MailPreferences, mailPreferences } from './mail-pages.ts';
import { KEY_ICON } from './sign-in-page.ts';

export type AccountState = {
  csrf: string;
  user: { email: string; kind: 'person' | 'company' };
  /** The user's code, which wallets show when they ask for a signature. */
  code: string;
  apps: readonly ConnectedApp[];
  passkeys: readonly { id: string; name: string; inserted_at: string; last_used_at: string | null }[];
  canAddPasskeys: boolean;
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
<p class="soft">Account code: <strong>${code}</strong>. Check it when your wallet asks you to sign.</p>
${apps(state)}
${passkeys(state)}
${mailPreferences(csrf, state.mails)}
<section><h2>Password</h2>
<p class="soft">We’ll email you a link. Setting a new password signs you out everywhere and disconnects all apps.</p>
<a class="button quiet" href="/forgot">Change password</a></section>`,
  };
}

function apps({ csrf, apps }: AccountState): Html {
  const row = (app: ConnectedApp) => html`<li>${partnerLogo({ name: app.name, logoUrl: app.logo_url })}
<div><p class="name">${app.name}</p><p class="soft small">Connected on ${formatDate(app.connected_at)}</p></div>
<form method="post" action="/account/disconnect">${hiddenField('csrf', csrf)}${hiddenField('client_id', app.client_id)}<button class="quiet slim" type="submit" aria-label="Disconnect ${app.name}">Disconnect</button></form>
<details><summary>Permissions</summary><ul>${app.scopes.map((scope) => html`<li>${describeScope(scope)}</li>`)}</ul></details></li>`;
  return html`<section aria-labelledby="apps"><h2 id="apps">Connected apps</h2>
${apps.length === 0 ? html`<p class="soft">You haven’t connected any apps.</p>` : html`<ul class="rows">${apps.map(row)}</ul>`}</section>`;
}

function passkeys({ csrf, passkeys, canAddPasskeys }: AccountState): Html {
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
${passkeys.length > 0 && html`<ul class="rows">${passkeys.map(row)}</ul>`}
${
  canAddPasskeys
    ? html`<div hidden data-passkey="add" data-csrf="${csrf}"><button type="button" class="quiet">${KEY_ICON}Add a passkey</button><p class="problem" role="alert" hidden></p></div>
<noscript><p class="soft small">Turn on JavaScript to add a passkey.</p></noscript>`
    : html`<p class="soft small">Passkeys aren’t available at this address. They need a domain name instead of an IP address.</p>`
}</section>`;
}

function formatDate(timestamp: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(timestamp));
}
