import { mkdirSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from './setup/chromium.ts';
import { expectAudited } from './support/audited.ts';
import { linkIn, PASSWORD, type Site, startSite } from './support/site.ts';

let site: Site;
let browser: Browser;

beforeAll(async () => {
  site = await startSite();
  browser = await launchChromium();
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

async function exchange(code: string, verifier: string): Promise<Response> {
  const { clientId, secret, redirectUri } = site.partner;
  return fetch(`${site.url}/oauth/token`, {
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
          await page.goto(linkIn(await site.mailTo(email, /Confirm/)));
          await page.getByRole('button', { name: 'Confirm email' }).click();

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
        `update oauth_artifacts set expires_at = now() - interval '1 second', payload = jsonb_set(payload, '{exp}', to_jsonb(extract(epoch from now())::bigint - 1)) where kind = 'AuthorizationCode'`,
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
      await page.getByRole('button', { name: 'Sign out' }).click();
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
      await site.makeUser('keys@user.test');
      await page.goto(`${site.url}/sign-in`);
      await signIn(page, 'keys@user.test');
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByText('Passkey added.').waitFor();
      await site.mailTo('keys@user.test', /passkey was added/);
      await page.getByRole('button', { name: 'Sign out' }).click();

      await page.goto(site.authorizeUrl().url);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByText('keys@user.test').waitFor();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.waitForURL(`${site.partner.redirectUri}?**`);

      await page.goto(`${site.url}/account`);
      await page.getByRole('button', { name: 'Remove' }).click();
      await page.getByText('Passkey removed.').waitFor();
      await expectAudited(site.ctx, 'user.passkey_added', 'user.passkey_removed');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByText('That passkey didn’t work.').waitFor();
    });
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

/** Set `SCREENSHOTS=yes` to save every page to `artifacts/pages/`. */
describe('page screenshots', () => {
  const folder = new URL('../../artifacts/pages/', import.meta.url).pathname;
  const VIEWS = [
    { name: 'phone-light', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
    { name: 'phone-dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
    { name: 'desktop-light', viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
    { name: 'desktop-dark', viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  ] as const;

  test.each(VIEWS)(
    '$name: every page fits the screen, labels its inputs and has one heading',
    async ({ name, viewport, colorScheme }) => {
      mkdirSync(folder, { recursive: true });
      const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor: 1 });
      const page = await context.newPage();
      context.setDefaultTimeout(10_000);
      const email = `${name}@user.test`;
      const save = async (shown: Page, pageName: string) => {
        if (process.env.SCREENSHOTS === undefined) return;
        await shown.screenshot({ path: `${folder}${pageName}-${name}.png`, fullPage: true });
      };
      const capture = async (pageName: string) => {
        await save(page, pageName);
        const width = await page.evaluate('document.documentElement.scrollWidth');
        expect(width, `${pageName} is wider than the screen`).toBeLessThanOrEqual(viewport.width);
        const unlabelled = await page
          .locator('input:not([type=hidden]):visible')
          .evaluateAll(
            (inputs) =>
              inputs.filter(
                (input) => (input as unknown as { labels: { length: number } }).labels.length === 0,
              ).length,
          );
        expect(unlabelled, `${pageName} has inputs without labels`).toBe(0);
        expect(await page.locator('h1').count(), `${pageName} must have one heading`).toBe(1);
      };
      await page.goto(site.authorizeUrl().url);
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
      await withPage(async (otherPage) => {
        await otherPage.setViewportSize(viewport);
        await otherPage.emulateMedia({ colorScheme });
        await otherPage.goto(link);
        await save(otherPage, '6-confirm-elsewhere');
      });
      await page.goto(link);
      await capture('6-confirm');
      await page.getByRole('button', { name: 'Confirm email' }).click();
      await capture('7-consent');
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.waitForURL(`${site.partner.redirectUri}?**`);
      await page.goto(`${site.url}/account`);
      await page.locator('summary').click();
      await capture('8-account');
      await page.goto(link);
      await capture('9-gone');
      await page.goto(`${site.url}/forgot`);
      await capture('a-forgot');
      await page.goto(site.authorizeUrl({ client_id: 'nobody' }).url);
      await capture('b-error');
      await context.close();
    },
  );
});
