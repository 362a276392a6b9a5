import { html } from '../../kernel/html.ts';
import { hiddenField } from './fields.ts';
import type { Page } from './layout.ts';
import { messagePage } from './message-page.ts';

export type LogoutState = {
  csrf: string;
  /** The app that asks to sign the user out. */
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
