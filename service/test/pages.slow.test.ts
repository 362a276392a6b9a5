import { mkdirSync } from 'node:fs';
import { sql } from 'kysely';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deletePasskeysOf, insertPasskey } from '../src/domain/accounts/passkey-store.ts';
import { totpCode, totpStep } from '../src/domain/accounts/totp.ts';
import { unsubscribeUrl } from '../src/domain/notices/preferences.ts';
import { holdUser } from '../src/domain/users/hold.ts';
import { findUserByEmail, lockUser } from '../src/domain/users/store.ts';
import { SCOPES } from '../src/kernel/access.ts';
import { newId } from '../src/kernel/ids.ts';
import { launchChromium } from './setup/chromium.ts';
import { testApp } from './support/app.ts';
import { expectAudited } from './support/audited.ts';
import { findViolations, loadAxe } from './support/axe.ts';
import { databaseUrlOf } from './support/database-url.ts';
import { linkIn, PASSWORD, type Site, startSite } from './support/site.ts';

const SCREENSHOTS = new URL('../../artifacts/screenshots/pages/', import.meta.url).pathname;

let site: Site;
let browser: Browser;
let axe: string;

beforeAll(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  site = await startSite();
  browser = await launchChromium();
  axe = await loadAxe();
}, 15 * 60_000);

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

async function withPage(
  run: (page: Page, context: BrowserContext) => Promise<void>,
  options: { javaScriptEnabled?: boolean } = {},
): Promise<void> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  context.setDefaultTimeout(10_000);
  const violations: string[] = [];
  page.on('console', (message) => message.type() === 'error' && violations.push(message.text()));
  try {
    await run(page, context);
    const blocked = violations.filter((text) => /Content.Security.Policy|Refused to/i.test(text));
    expect(blocked).toEqual([]);
  } finally {
    await context.close();
  }
}

async function register(
  page: Page,
  email: string,
  kind: 'Individual' | 'Company' = 'Individual',
): Promise<void> {
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByLabel(kind).check();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
}

async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function exchange(code: string, verifier: string, url = site.url): Promise<Response> {
  const { clientId, secret, redirectUri } = site.partner;
  return fetch(`${url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri,
      client_id: clientId,
      client_secret: secret,
    }),
  });
}

async function addAuthenticator(page: Page, context: BrowserContext): Promise<void> {
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/**
 * Deletes the user's passkeys in a transaction, as a password reset does. Calls `start`, which begins a sign-in, and
 * commits once the sign-in waits for the transaction.
 */
async function removePasskeysDuring(email: string, start: () => Promise<void>): Promise<void> {
  const { ctx } = site;
  await ctx.db.transaction().execute(async (tx) => {
    const user = await lockUser(tx, email);
    await deletePasskeysOf(tx, user?.id ?? '');
    await start();
    const waiting = sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await expect
      .poll(async () => (await waiting.execute(ctx.db)).rows.length, { timeout: 10_000 })
      .toBeGreaterThan(0);
  });
}

/** Saves a screenshot of a page at the size of a phone, and checks the page for accessibility. */
async function checkPage(url: string, name: string, path: string): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 375, height: 667 } });
  const page = await context.newPage();
  await page.goto(url + path);
  await page.screenshot({ path: `${SCREENSHOTS}${name}.png`, fullPage: true });
  expect(await findViolations(page, axe)).toEqual([]);
  await context.close();
}

/** All scopes that a user can grant. Requesting them gives the longest consent page. */
const USER_SCOPES = Object.keys(SCOPES)
  .filter((scope) => scope !== 'webhooks:write')
  .join(' ');

function codeOf(secret: string, offset: number): string {
  const bits = [...secret].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const bytes = (bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return totpCode(Buffer.from(bytes), totpStep(Date.now()) + offset);
}

const callbackOf = (page: Page) => new URL(page.url()).searchParams;

describe('sign-in in a browser', () => {
  test.each([true, false])(
    'a new user registers, confirms, consents and returns with a code for tokens (JavaScript: %s)',
    async (javaScriptEnabled) => {
      await withPage(
        async (page) => {
          const email = `new-${javaScriptEnabled}@user.test`;
          const { url, verifier, state } = site.authorizeUrl();
          await page.goto(url);
          await register(page, email);
          await page.goto(linkIn(await site.mailTo(email, /Confirm/)), { waitUntil: 'commit' });
          // With JavaScript, opening the link in the browser that was used to register needs no click.
          if (!javaScriptEnabled) await page.getByRole('button', { name: 'Confirm email' }).click();

          await page.getByRole('heading', { name: 'Harbour Invest wants to access your account' }).waitFor();
          await expect(page.getByText(email).innerText()).resolves.toBe(email);
          const scopes = await page.locator('.grants li').allInnerTexts();
          expect(scopes).toContain('Invest in offers on your behalf');
          await page.getByRole('button', { name: 'Allow' }).click();
          await page.waitForURL(`${site.partner.redirectUri}?**`);

          expect(callbackOf(page).get('state')).toBe(state);
          expect(callbackOf(page).get('iss')).toBe(site.url);
          const reply = await exchange(callbackOf(page).get('code') ?? '', verifier);
          expect(reply.status).toBe(200);
          expect(await reply.json()).toMatchObject({
            token_type: 'Bearer',
            refresh_token: expect.any(String),
            id_token: expect.any(String),
          });
        },
        { javaScriptEnabled },
      );
    },
  );

  test('consent groups the scopes, and a small phone shows the buttons without scrolling', async () => {
    await withPage(async (page) => {
      await page.setViewportSize({ width: 375, height: 667 });
      await site.makeUser('phone@user.test');
      await page.goto(site.authorizeUrl({ scope: USER_SCOPES }).url);
      await signIn(page, 'phone@user.test');
      await page.getByRole('heading', { name: 'Harbour Invest wants to access your account' }).waitFor();
      expect(await page.locator('.grants h2').allInnerTexts()).toEqual(['Sensitive', 'Do', 'See']);
      expect(await page.locator('.grants li').count()).toBe(USER_SCOPES.split(' ').length);
      expect(await page.locator('.sensitive li').allInnerTexts()).toContain(SCOPES['pii:read']);
      expect(await page.evaluate('[scrollY, document.documentElement.scrollHeight > innerHeight]')).toEqual([
        0,
        true,
      ]);
      for (const name of ['Deny', 'Allow']) {
        const box = await page.getByRole('button', { name }).boundingBox();
        expect(box?.y).toBeGreaterThanOrEqual(0);
        expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(667);
        expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(375);
      }
      const promise = await page.getByText('Only your wallet can move money.').boundingBox();
      expect((promise?.y ?? 0) + (promise?.height ?? 0)).toBeLessThanOrEqual(667);
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      const [last, decision] = await Promise.all([
        page.locator('.grants li').last().boundingBox(),
        page.locator('.decision').boundingBox(),
      ]);
      expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThanOrEqual(decision?.y ?? 0);
    });
  });

  test('denying consent returns access_denied and creates no grant', async () => {
    await withPage(async (page) => {
      const user = await site.makeUser('denier@user.test');
      const { url, state } = site.authorizeUrl();
      await page.goto(url);
      await signIn(page, 'denier@user.test');
      await page.getByRole('button', { name: 'Deny' }).click();
      await page.waitForURL(`${site.partner.redirectUri}?**`);
      expect(callbackOf(page).get('error')).toBe('access_denied');
      expect(callbackOf(page).get('state')).toBe(state);
      expect(callbackOf(page).has('code')).toBe(false);
      expect(await site.ctx.oauth.listGrants(user)).toEqual([]);
    });
  });

  test('an expired code is rejected', async () => {
    await withPage(async (page) => {
      await site.makeUser('late@user.test');
      const { url, verifier } = site.authorizeUrl();
      await page.goto(url);
      await signIn(page, 'late@user.test');
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.waitForURL(`${site.partner.redirectUri}?**`);
      await site.ctx.pool.query(
        `update oauth_artifacts set expires_at = now() - interval '1 second' where kind = 'AuthorizationCode'`,
      );
      const reply = await exchange(callbackOf(page).get('code') ?? '', verifier);
      expect(reply.status).toBe(400);
      expect(await reply.json()).toMatchObject({ error: 'invalid_grant' });
    });
  });

  test.each([
    ['an unregistered redirect URI', { redirect_uri: 'http://localhost:1/elsewhere' }],
    ['an unknown client', { client_id: 'nobody' }],
  ])('%s shows an error page instead of redirecting', async (_name, parameters) => {
    await withPage(async (page) => {
      const response = await page.goto(site.authorizeUrl(parameters).url);
      expect(response?.status()).toBe(400);
      expect(new URL(page.url()).origin).toBe(site.url);
      await page.getByRole('heading', { name: 'We couldn’t sign you in' }).waitFor();
      expect(response?.headers()['content-security-policy']).toContain("frame-ancestors 'none'");
    });
  });

  test('a connected app signs in silently, and without another consent after a new sign-in', async () => {
    await withPage(async (page) => {
      await site.makeUser('again@user.test');
      await page.goto(site.authorizeUrl().url);
      await signIn(page, 'again@user.test');
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.waitForURL(`${site.partner.redirectUri}?**`);
      await page.goto(site.authorizeUrl().url);
      await page.waitForURL(`${site.partner.redirectUri}?**`);
      expect(callbackOf(page).has('code')).toBe(true);

      await page.goto(`${site.url}/account`);
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await page.goto(site.authorizeUrl().url);
      await signIn(page, 'again@user.test');
      await page.waitForURL(`${site.partner.redirectUri}?**`);
      expect(callbackOf(page).has('code')).toBe(true);
    });
  });

  test('another user can sign in from the consent page', async () => {
    await withPage(async (page) => {
      await site.makeUser('first@user.test');
      const second = await site.makeUser('second@user.test');
      await page.goto(site.authorizeUrl().url);
      await signIn(page, 'first@user.test');
      await page.getByRole('button', { name: 'Not you?' }).click();
      await signIn(page, 'second@user.test');
      await page.getByText('second@user.test').waitFor();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.waitForURL(`${site.partner.redirectUri}?**`);
      expect(await site.ctx.oauth.listGrants(second)).toMatchObject([{ client_id: 'harbour' }]);
    });
  });

  test('prompt=login makes the user sign in again, however recent the last sign-in is', async () => {
    await withPage(async (page) => {
      await site.makeUser('fresh@user.test');
      await page.goto(site.authorizeUrl().url);
      await signIn(page, 'fresh@user.test');
      await page.getByRole('button', { name: 'Allow' }).waitFor();
      await page.goto(site.authorizeUrl({ prompt: 'login' }).url);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('button', { name: 'Allow' }).waitFor();
    });
  });
});

describe('the account page', () => {
  test('disconnecting an app revokes its tokens, and the app needs consent again', async () => {
    await withPage(async (page) => {
      await site.makeUser('leaver@user.test');
      const { url, verifier } = site.authorizeUrl();
      await page.goto(url);
      await signIn(page, 'leaver@user.test');
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.waitForURL(`${site.partner.redirectUri}?**`);
      const { access_token } = (await (
        await exchange(callbackOf(page).get('code') ?? '', verifier)
      ).json()) as { access_token: string };
      const userinfo = () =>
        fetch(`${site.url}/oauth/userinfo`, { headers: { authorization: `Bearer ${access_token}` } });
      expect((await userinfo()).status).toBe(200);

      await page.goto(`${site.url}/account`);
      await page.getByRole('button', { name: 'Disconnect Harbour Invest' }).click();
      await page.getByText('You haven’t connected any apps.').waitFor();
      await expect.poll(async () => (await userinfo()).status).toBe(401);
      await page.goto(site.authorizeUrl().url);
      await page.getByRole('button', { name: 'Allow' }).waitFor();
    });
  });

  test('a passkey added on the account page signs in without a password', async () => {
    await withPage(async (page, context) => {
      await addAuthenticator(page, context);
      await site.makeUser('keys@user.test');
      await page.goto(`${site.url}/sign-in`);
      await signIn(page, 'keys@user.test');
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByText('Passkey added.').waitFor();
      await site.mailTo('keys@user.test', /passkey was added/);
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();

      await page.goto(site.authorizeUrl().url);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByText('keys@user.test').waitFor();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.waitForURL(`${site.partner.redirectUri}?**`);

      await page.getByText('Back at Harbour').waitFor();
      await page.goto(`${site.url}/account`);
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await signIn(page, 'keys@user.test');
      const { url, verifier } = site.authorizeUrl({ acr_values: 'phr' });
      await page.goto(url);
      await page.getByText('asks for more security').waitFor();
      expect(await page.getByLabel('Password').count()).toBe(0);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.waitForURL(`${site.partner.redirectUri}?**`);
      const reply = await exchange(callbackOf(page).get('code') ?? '', verifier);
      const { id_token } = (await reply.json()) as { id_token: string };
      const claims = JSON.parse(Buffer.from(id_token.split('.')[1] ?? '', 'base64url').toString());
      expect(claims).toMatchObject({ acr: 'phr', amr: ['pop', 'user', 'mfa'] });

      await page.goto(`${site.url}/account`);
      await page.getByRole('button', { name: 'Remove' }).click();
      await page.getByText('Passkey removed.').waitFor();
      await expectAudited(site.ctx, 'user.passkey_added', 'user.passkey_removed');
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByText('That passkey didn’t work.').waitFor();
    });
  });

  test('a sandbox at 127.0.0.1 offers passkeys at localhost, also during an app’s sign-in', async () => {
    const mailboxUrl = 'http://localhost:3000/mail';
    const node = await testApp({
      ...{ databaseUrl: await databaseUrlOf(site), listen: true, baseUrl: 'http://127.0.0.1' },
      config: { mailboxUrl, limits: site.ctx.config.limits },
    });
    const url = node.ctx.baseUrl;
    const localhost = url.replace('127.0.0.1', 'localhost');
    const email = 'loopback@user.test';
    try {
      await withPage(async (page, context) => {
        await addAuthenticator(page, context);
        await site.makeUser(email);
        await checkPage(url, 'e-sign-in-loopback', '/sign-in');
        await page.goto(`${url}/sign-in`);
        expect(await page.getByRole('button', { name: 'passkey' }).count()).toBe(0);
        await page.getByRole('link', { name: 'Use a passkey on localhost' }).click();
        expect(page.url()).toBe(`${localhost}/sign-in`);
        await signIn(page, email);
        await page.getByRole('button', { name: 'Add a passkey' }).click();
        await page.getByText('Passkey added.').waitFor();
        await page.getByRole('button', { name: 'Sign out', exact: true }).click();

        // The passkey link is also shown after a wrong password.
        await page.goto(site.authorizeUrl().url.replace(site.url, url));
        await signIn(page, email, 'a wrong password');
        await page.getByText('Incorrect email or password').waitFor();
        await page.getByRole('link', { name: 'Use a passkey on localhost' }).click();
        await page.getByText('Continue to Harbour Invest').waitFor();
        expect(new URL(page.url()).origin).toBe(localhost);

        const { url: authorize, verifier, state } = site.authorizeUrl({ acr_values: 'phr' });
        await page.goto(authorize.replace(site.url, url));
        await page.getByText('Continue to Harbour Invest').waitFor();
        await page.getByRole('link', { name: 'Use a passkey on localhost' }).click();
        await page.getByText('Continue to Harbour Invest').waitFor();
        await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
        await page.getByRole('button', { name: 'Allow' }).click();
        await page.waitForURL(`${site.partner.redirectUri}?**`);
        expect([callbackOf(page).get('state'), callbackOf(page).get('iss')]).toEqual([state, url]);
        const reply = await exchange(callbackOf(page).get('code') ?? '', verifier, url);
        const { id_token } = (await reply.json()) as { id_token: string };
        const claims = JSON.parse(Buffer.from(id_token.split('.')[1] ?? '', 'base64url').toString());
        expect(claims).toMatchObject({ iss: url, acr: 'phr' });

        await page.goto(`${localhost}/account`);
        await page.getByRole('button', { name: 'Sign out', exact: true }).click();
        await page.getByRole('heading', { name: 'Sign in' }).waitFor();
        await removePasskeysDuring(email, () =>
          page.getByRole('button', { name: 'Sign in with a passkey' }).click(),
        );
        await page.getByText('That passkey didn’t work.').waitFor();

        await page.goto(`${url}/forgot`);
        await page.getByLabel('Email').fill(email);
        await page.getByRole('button', { name: 'Send link' }).click();
        const mailbox = page.getByRole('link', { name: 'Open the sandbox mailbox' });
        expect(await mailbox.getAttribute('href')).toBe(mailboxUrl);
        await page.screenshot({ path: `${SCREENSHOTS}e-check-mail-sandbox.png` });
        await page.goto(`${site.url}/forgot`);
        await page.getByLabel('Email').fill(email);
        await page.getByRole('button', { name: 'Send link' }).click();
        await page.getByRole('heading', { name: 'Check your email' }).waitFor();
        expect(await mailbox.count()).toBe(0);
      });
    } finally {
      await node.close();
    }
  });

  test('resetting the password by mail ends every session', async () => {
    await withPage(async (page) => {
      await site.makeUser('forgetful@user.test');
      await withPage(async (other) => {
        await other.goto(`${site.url}/sign-in`);
        await signIn(other, 'forgetful@user.test');
        await other.getByRole('heading', { name: 'Your account' }).waitFor();

        await page.goto(`${site.url}/sign-in`);
        await page.getByRole('link', { name: 'Forgot password?' }).click();
        await page.getByLabel('Email').fill('forgetful@user.test');
        await page.getByRole('button', { name: 'Send link' }).click();
        await page.goto(linkIn(await site.mailTo('forgetful@user.test', /Set a new password/)));
        await page.getByLabel('New password').fill('another quiet harbour');
        await page.getByRole('button', { name: 'Set password' }).click();
        await page.getByText('Your password was changed.').waitFor();
        await signIn(page, 'forgetful@user.test', 'another quiet harbour');
        await page.getByRole('heading', { name: 'Your account' }).waitFor();

        await other.goto(`${site.url}/account`);
        await other.getByRole('heading', { name: 'Sign in' }).waitFor();
        await signIn(other, 'forgetful@user.test');
        await other.getByText('Incorrect email or password.').waitFor();
      });
    });
  });
});

/** Saves screenshots of every page to `artifacts/screenshots/pages/`, on phone and desktop, light and dark. */
test('every page fits the screen, has one heading and breaks no accessibility rule', {
  timeout: 240_000,
}, async () => {
  const views = [
    { name: 'phone-light', viewport: { width: 375, height: 667 }, colorScheme: 'light', isChecked: true },
    { name: 'phone-dark', viewport: { width: 375, height: 667 }, colorScheme: 'dark', isChecked: false },
    { name: 'desktop-light', viewport: { width: 1280, height: 860 }, colorScheme: 'light', isChecked: false },
    { name: 'desktop-dark', viewport: { width: 1280, height: 860 }, colorScheme: 'dark', isChecked: true },
  ] as const;
  const context = await browser.newContext({ deviceScaleFactor: 1 });
  const page = await context.newPage();
  context.setDefaultTimeout(10_000);
  const email = 'every-page@user.test';
  const capture = async (pageName: string, shown: Page = page) => {
    for (const { name, viewport, colorScheme, isChecked } of views) {
      await shown.setViewportSize(viewport);
      await shown.emulateMedia({ colorScheme });
      await shown.screenshot({ path: `${SCREENSHOTS}${pageName}-${name}.png`, fullPage: true });
      const width = await shown.evaluate('document.documentElement.scrollWidth');
      expect(width, `${pageName} is wider than the screen`).toBeLessThanOrEqual(viewport.width);
      if (isChecked) expect([pageName, await findViolations(shown, axe)]).toEqual([pageName, []]);
    }
    expect(await shown.locator('h1').count(), `${pageName} must have one heading`).toBe(1);
  };
  await page.goto(site.authorizeUrl({ scope: USER_SCOPES }).url);
  await capture('1-sign-in');
  await signIn(page, 'nobody@user.test');
  await capture('2-sign-in-wrong');
  await page.getByRole('link', { name: 'Create an account' }).click();
  await capture('3-register');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill('aaaaaaaaaaaa');
  await page.getByRole('button', { name: 'Create account' }).click();
  await capture('4-register-wrong');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await capture('5-check-mail');
  const link = linkIn(await site.mailTo(email, /Confirm/));
  const elsewhere = await browser.newContext();
  const otherPage = await elsewhere.newPage();
  await otherPage.goto(link);
  await capture('6-confirm-elsewhere', otherPage);
  await elsewhere.close();
  await page.route('**/assets/submit.*', (route) => route.abort());
  await page.goto(link);
  await capture('6-confirm');
  await page.getByRole('button', { name: 'Confirm email' }).click();
  await capture('7-consent');
  await page.setViewportSize(views[0].viewport);
  await page.screenshot({ path: `${SCREENSHOTS}7-consent-first-screen.png` });
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.waitForURL(`${site.partner.redirectUri}?**`);
  await page.goto(`${site.url}/account`);
  await page.locator('summary').click();
  await capture('8-account');
  for (const form of ['password', 'email', 'delete']) {
    await page.goto(`${site.url}/account/${form}`);
    await capture(`8-account-${form}`);
  }
  await page.goto(`${site.url}/account/email`);
  await page.getByLabel('New email').fill(`new-${email}`);
  await page.getByRole('button', { name: 'Send link' }).click();
  await capture('8-account-email-sent');
  await page.goto(linkIn(await site.mailTo(`new-${email}`, /Confirm your new/)));
  await capture('8-account-email-confirm');
  await page.goto(`${site.url}/account/second-factor`);
  await capture('8-account-second-factor');
  await page.locator('summary').click();
  const secret = (await page.locator('.secret').innerText()).replaceAll(' ', '');
  await page.getByLabel('Enter the 6-digit code').fill(codeOf(secret, 0));
  await page.getByRole('button', { name: 'Turn on' }).click();
  await capture('8-account-recovery-codes');
  await page.getByRole('link', { name: 'I saved them' }).click();
  await capture('8-account-protected');
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await signIn(page, email);
  await capture('8-sign-in-code');
  await page.getByLabel('Code').fill(codeOf(secret, 1));
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
  const { id: userId = '' } = (await findUserByEmail(site.ctx.db, email)) ?? {};
  await insertPasskey(site.ctx.db, {
    ...{
      id: newId(site.ctx.clock, site.ctx.random),
      user_id: userId,
      name: 'Synced passkey',
      transports: [],
    },
    ...{ credential_id: Buffer.alloc(16), public_key: Buffer.alloc(16), sign_count: 0 },
  });
  await page.goto(site.authorizeUrl({ acr_values: 'phr' }).url);
  await page.getByText('asks for more security').waitFor();
  await capture('8-step-up-passkey');
  await holdUser(site.ctx, userId, 'axe walk');
  await page.goto(`${site.url}/account/delete`);
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Delete account' }).click();
  await page.getByRole('heading', { name: 'You can’t delete your account yet' }).waitFor();
  await capture('8-account-delete-blocked');
  await site.ctx.pool.query(
    `update browser_sessions set expires_at = expires_at - interval '5 minutes' where user_id = $1`,
    [userId],
  );
  await page.goto(`${site.url}/account/password`);
  await capture('8-sign-in-again');
  await page.goto(link);
  await capture('9-gone');
  await page.goto(`${site.url}/forgot`);
  await capture('a-forgot');
  await page.getByRole('button', { name: 'Send link' }).click();
  await page.goto(linkIn(await site.mailTo(email, /Set a new password/)));
  await capture('a-reset');
  await page.getByLabel('New password').fill('aaaaaaaaaaaa');
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('too easy to guess').waitFor();
  expect(await page.getByRole('checkbox').isChecked()).toBe(true);
  await capture('a-reset-wrong');
  await page.goto(unsubscribeUrl(site.ctx, userId, 'reminders'));
  await capture('a-unsubscribe');
  await page.getByRole('button').click();
  await page.getByRole('heading', { name: 'Emails turned off' }).waitFor();
  await capture('a-unsubscribed');
  await page.goto(`${site.url}/unsubscribe?token=x`);
  await capture('a-unsubscribe-unknown');
  await page.goto(site.authorizeUrl({ client_id: 'nobody' }).url);
  await capture('b-error');
  await page.goto(`${site.url}/oauth/logout`);
  await capture('c-logout');
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await capture('d-signed-out');
  await page.goto(`${site.url}/`);
  await capture('e-home');
  await page.goto(`${site.url}/nowhere`);
  await capture('e-not-found');
  await context.close();
});
