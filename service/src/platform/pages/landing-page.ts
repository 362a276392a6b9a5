import { type Html, html } from '../../kernel/html.ts';
import type { Page } from './layout.ts';

/** What a sandbox's landing page shows, in addition to the links that every installation shows. */
export type SandboxLanding = {
  demoUrl: string | null;
  /** On `localhost` if the sandbox runs on a loopback IP address, because passkeys do not work on IP addresses. */
  accountUrl: string;
  users: readonly { email: string; password: string; note: string }[];
};

type Link = { href: string; name: string; text: string };

/** Renders the page at `/`, for people who open the API's address in a browser. */
export function landingPage(baseUrl: string, sandbox: SandboxLanding | null): Page {
  return sandbox === null ? productionPage() : sandboxPage(baseUrl, sandbox);
}

function productionPage(): Page {
  return {
    title: 'Welcome',
    wide: true,
    body: html`<h1>Causeway</h1>
<p class="lead">Apps that you connect use this service for investments. You decide what each app may see.</p>
${links([
  {
    href: '/account',
    name: 'Your account',
    text: 'See your connected apps, and change your password or passkeys.',
  },
  { href: '/docs', name: 'API reference', text: 'For developers of partner apps.' },
])}`,
  };
}

function sandboxPage(baseUrl: string, { demoUrl, accountUrl, users }: SandboxLanding): Page {
  const demo: Link[] =
    demoUrl === null
      ? []
      : [{ href: demoUrl, name: 'Demo app', text: 'A partner’s web app. Sign in and make an investment.' }];
  return {
    title: 'Sandbox',
    wide: true,
    body: html`<h1>Causeway sandbox</h1>
<p class="lead">Everything runs on this machine: test users, test money, simulated chains and providers.</p>
${links([
  ...demo,
  {
    href: '/docs',
    name: 'API reference',
    text: 'Every endpoint, guides and error codes. Try calls in the browser.',
  },
  {
    href: demoUrl === null ? '/sandbox/mail' : `${demoUrl}/mail`,
    name: 'Mailbox',
    text: 'Emails sent by the service and the signing provider.',
  },
  { href: '/sandbox', name: 'Sandbox data', text: 'Credentials, chains, wallets and offers, as JSON.' },
  {
    href: `${accountUrl}/account`,
    name: 'Account',
    text: 'The hosted pages: sign in, connected apps, passkeys.',
  },
  { href: '/health/ready', name: 'Health', text: 'The state of the database, chains and providers.' },
])}
<section aria-labelledby="users"><h2 id="users">Users</h2>
<p class="soft">Sign in with any of them, in the demo app or on the hosted pages.</p>
<ul class="rows">${users.map(
      ({ email, password, note }) => html`<li class="plain"><div><p class="name">${email}</p>
<p class="soft small">Password <code>${password}</code> · ${note}</p></div></li>`,
    )}</ul></section>
<section aria-labelledby="start"><h2 id="start">First call</h2>
<p class="soft">All that a script needs is in one object:</p>
<pre tabindex="0"><code>curl ${baseUrl}/sandbox</code></pre></section>`,
  };
}

function links(items: readonly Link[]): Html {
  return html`<ul class="rows">${items.map(
    ({ href, name, text }) => html`<li class="plain"><div><p class="name"><a href="${href}">${name}</a></p>
<p class="soft small">${text}</p></div></li>`,
  )}</ul>`;
}
