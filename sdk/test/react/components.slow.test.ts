import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, shoot, startTestApp, type TestApp } from './test-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
}, 180_000);
afterAll(() => app?.close());

/** Returns the browser's cumulative layout shift score. */
const layoutShift = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) =>
          resolve(
            list
              .getEntries()
              .reduce((sum, one) => sum + (one as PerformanceEntry & { value: number }).value, 0),
          ),
        ).observe({ type: 'layout-shift', buffered: true });
        requestAnimationFrame(() => setTimeout(() => resolve(0), 100));
      }),
  );

describe('the offer components', () => {
  test('lead from the grid to the offer without layout shift', async () => {
    await app.look('', async ({ page }) => {
      await page.getByRole('link', { name: 'Harbour Quarter' }).waitFor();
      await expect.poll(() => page.getByRole('article').count()).toBeGreaterThan(5);
      await page.getByRole('link', { name: 'Apple (tokenized)' }).waitFor();
      expect(await layoutShift(page)).toBeLessThan(0.01);
      await shoot(page, 'offers');
      await page.getByRole('link', { name: 'Harbour Quarter' }).click();
      await page.getByRole('heading', { level: 1, name: 'Harbour Quarter' }).waitFor();
      await page.getByText('Warehouses one to four open').waitFor();
      await page.getByText('Read the sale agreement').waitFor();
      expect(await layoutShift(page)).toBeLessThan(0.05);
      await page.getByText('What do I own?').click();
      await page.getByText('The token is the record of your share.').waitFor();
      await shoot(page, 'offer');
    });
  });

  test('are measured by a layout shift check that detects a shift', async () => {
    await app.look('', async ({ page }) => {
      await page.getByRole('link', { name: 'Harbour Quarter' }).waitFor();
      await page.evaluate(() => {
        const intruder = document.createElement('div');
        intruder.style.height = '200px';
        document.body.prepend(intruder);
      });
      await expect.poll(() => layoutShift(page)).toBeGreaterThan(0.05);
    });
  });

  test('fit a phone 320 pixels wide', async () => {
    await app.look(null, async ({ page }) => {
      await page.setViewportSize({ width: 320, height: 640 });
      for (const [path, text] of [
        ['', 'Tesla (tokenized)'],
        ['?view=offer&slug=harbour-quarter&option=public', 'You pay'],
        ['?view=offer&slug=harbour-quarter&option=accredited', '0 of 7 done'],
        ['?view=offer&slug=apple-tokenized', 'per order'],
      ] as const) {
        await page.goto(`${app.server.url}/${path}`);
        await page.getByText(text).first().waitFor();
        const widest = await page.evaluate(() =>
          Math.max(
            ...[...document.querySelectorAll('#root *')].map((one) => one.getBoundingClientRect().right),
          ),
        );
        expect(widest, path).toBeLessThanOrEqual(320);
      }
    });
  });
});

describe('the theme', () => {
  const surface = (page: Page) =>
    page
      .locator('.cw-card')
      .first()
      .evaluate((card) => getComputedStyle(card).backgroundColor);
  const [light, dark] = ['rgb(255, 255, 255)', 'rgb(21, 30, 34)'];

  test('follows the host, and the system only if the host leaves the choice to it', async () => {
    await app.look('?view=sign-in', async ({ page }) => {
      const setRoot = (scheme: string, theme: string) =>
        page.evaluate(
          ([scheme = '', theme = '']) => {
            document.documentElement.style.colorScheme = scheme;
            document.documentElement.dataset.theme = theme;
          },
          [scheme, theme],
        );
      await page.locator('.cw-card').waitFor();
      await shoot(page, 'sign-in');
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await surface(page)).toBe(dark);
      await setRoot('light', '');
      expect(await surface(page)).toBe(light);
      await setRoot('light', 'dark');
      expect(await surface(page)).toBe(dark);
      await page.emulateMedia({ colorScheme: 'light' });
      await setRoot('dark', '');
      expect(await surface(page)).toBe(dark);
      await setRoot('dark', 'light');
      expect(await surface(page)).toBe(light);
    });
  });
});

describe('the hooks', () => {
  const quoteRequests = (page: Page) => {
    const requests: string[] = [];
    page.on('request', (one) => one.url().includes('/quote') && requests.push(one.url()));
    return requests;
  };

  test('send one request for two components with the same query, even in strict mode', async () => {
    await app.look(null, async ({ page }) => {
      const requests = quoteRequests(page);
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route('**/quote*', async (route) => {
        await released;
        await route.continue();
      });
      await page.goto(`${app.server.url}/?view=probe`);
      await page.locator('#b').getByText('loading').waitFor();
      expect(requests).toHaveLength(1);
      release();
      await expect.poll(() => page.locator('#a').textContent()).toMatch(/^\d/);
      expect(await page.locator('#a').textContent()).toBe(await page.locator('#b').textContent());
    });
  });

  test('do not poll while the page is hidden, and catch up when it is visible again', async () => {
    await app.look(null, async ({ page }) => {
      await page.clock.install();
      const requests = quoteRequests(page);
      await page.goto(`${app.server.url}/?view=probe`);
      const poll = async () => {
        const finished = page.waitForEvent('requestfinished', (one) => one.url().includes('/quote'));
        await page.clock.runFor(500);
        await finished;
      };
      for (let polls = 0; polls < 3; polls++) await poll();
      const setVisibility = (state: string) =>
        page.evaluate((value) => {
          Object.defineProperty(document, 'visibilityState', { value, configurable: true });
          document.dispatchEvent(new Event('visibilitychange'));
        }, state);
      await setVisibility('hidden');
      const before = requests.length;
      await page.clock.runFor(60_000);
      expect(requests.length).toBe(before);
      await setVisibility('visible');
      await expect.poll(() => requests.length).toBe(before + 1);
      await poll();
    });
  });

  test('abort a request when no component uses it any more', async () => {
    await app.look('?view=probe', async ({ page }) => {
      const failed: string[] = [];
      page.on('requestfailed', (one) => failed.push(one.failure()?.errorText ?? ''));
      await expect.poll(() => page.locator('#a').textContent()).toMatch(/^\d/);
      await page.route('**/quote*', () => undefined);
      await page.waitForRequest('**/quote*');
      await page.evaluate(() => (window as unknown as { showProbe(show: boolean): void }).showProbe(false));
      await expect.poll(() => failed).toContain('net::ERR_ABORTED');
    });
  });
});

describe('a failed request', () => {
  test('shows what to do and the reference, and can be retried', async () => {
    await app.look(null, async ({ page }) => {
      const error = {
        type: 'api_error',
        code: 'internal_error',
        message: 'x',
        errors: {},
        event_id: 'req-77',
      };
      await page.route('**/v1/offers?*', (route) => route.fulfill({ status: 500, json: error }));
      await page.goto(`${app.server.url}/`);
      const alert = page.getByRole('alert');
      await alert.getByText('Something went wrong on our side').waitFor();
      await alert.getByText('req-77').waitFor();
      await shoot(page, 'error');
      await page.unroute('**/v1/offers?*');
      await alert.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('link', { name: 'Harbour Quarter' }).waitFor();
    });
  });

  test('of a signed-out user links to sign-in', async () => {
    await app.look(null, async ({ page }) => {
      const error = { type: 'api_error', code: 'unauthorized', message: 'x', errors: {}, event_id: 'e' };
      await page.route('**/v1/participations*', (route) => route.fulfill({ status: 401, json: error }));
      await page.goto(`${app.server.url}/?view=participations`);
      const link = page.getByRole('alert').getByRole('link', { name: 'Sign in' });
      expect(await link.getAttribute('href')).toBe('/causeway/sign-in');
    });
  });
});

describe('the session', () => {
  const user = (id: string) => ({
    ...{ signed_in: true, scope: 'openid' },
    user: { id, email: `${id}@app.test` },
  });
  const answer = async (page: Page, body: object, status = 200) => {
    await page.unroute('**/causeway/session');
    await page.route('**/causeway/session', (route) => route.fulfill({ status, json: body }));
  };

  test('decides what is shown, and says if the server does not know', async () => {
    await app.look(null, async ({ page }) => {
      await answer(page, {}, 503);
      await page.goto(`${app.server.url}/?view=session`);
      await page.getByText('error', { exact: true }).waitFor();
      await answer(page, { signed_in: false });
      await page.reload();
      await page.getByRole('link', { name: 'Sign in or register' }).waitFor();
      await answer(page, user('ann'));
      await page.reload();
      await page.getByText('Hello ann@app.test').waitFor();
      expect(await page.getByRole('link', { name: 'Sign in or register' }).count()).toBe(0);
    });
  });

  test('ends with a POST of the page, by the button and by the hook', async () => {
    await app.look(null, async ({ page }) => {
      await answer(page, user('ann'));
      for (const [name, path] of [
        ['Sign out', '/bye'],
        ['Leave', '/later'],
      ] as const) {
        await page.goto(`${app.server.url}/?view=session`);
        const posted = page.waitForRequest('**/causeway/sign-out*');
        await page.getByRole('button', { name }).click();
        const request = await posted;
        expect([request.method(), new URL(request.url()).searchParams.get('return_to')]).toEqual([
          'POST',
          path,
        ]);
        expect(request.isNavigationRequest()).toBe(true);
      }
    });
  });

  test('of another user reloads the page, which has the data of the first', async () => {
    await app.look(null, async ({ page }) => {
      await answer(page, user('ann'));
      await page.goto(`${app.server.url}/?view=session`);
      await page.getByText('Hello ann@app.test').waitFor();
      await page.evaluate(() => Object.assign(window, { isFirstPage: true }));
      await answer(page, user('bob'));
      await expect
        .poll(async () => {
          await page.evaluate(() => window.dispatchEvent(new Event('focus'))).catch(() => undefined);
          return page.evaluate(() => 'isFirstPage' in window).catch(() => true);
        })
        .toBe(false);
      await page.getByText('Hello bob@app.test').waitFor();
    });
  });
});

describe('wallets', () => {
  test('that announce themselves can be connected from the keyboard and are remembered', async () => {
    await app.visit('?view=sign-in', async ({ page, context, wallet }) => {
      await context.addInitScript((address) => {
        const provider = {
          request: async ({ method }: { method: string }) =>
            ['eth_requestAccounts', 'eth_accounts'].includes(method) ? [address] : null,
        };
        const info = {
          uuid: crypto.randomUUID(),
          name: 'Fox',
          icon: 'data:image/svg+xml,<svg/>',
          rdns: 'test.fox',
        };
        const announce = () =>
          window.dispatchEvent(
            new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }),
          );
        window.addEventListener('eip6963:requestProvider', announce);
        window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info: null } }));
      }, wallet);
      await page.goto(`${app.server.url}/?view=offer&slug=harbour-quarter&option=public`);
      const opener = page.getByRole('button', { name: 'Connect wallet' });
      await opener.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Connect wallet' }).waitFor();
      await page.keyboard.press('Escape');
      expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Fox' }).focus();
      await page.keyboard.press('Enter');
      await page.getByText('Balance 1,000 USDC').waitFor();
      await page.reload();
      await page.getByText('Balance 1,000 USDC').waitFor();
    });
  });

  test('have a stable disconnect: an effect that depends on it runs once', async () => {
    await app.look('?view=disconnecting', async ({ page }) => {
      // Strict mode runs every effect twice.
      await expect.poll(() => page.locator('#runs').textContent()).toBe('2');
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
      expect(await page.locator('#runs').textContent()).toBe('2');
    });
  });

  test('are not asked to announce themselves if discovery is off', async () => {
    await app.look(null, async ({ page, context }) => {
      await context.addInitScript(() => {
        const asked: string[] = [];
        Object.assign(window, { asked });
        for (const name of ['eip6963:requestProvider', 'wallet-standard:app-ready'])
          window.addEventListener(name, () => asked.push(name));
      });
      const asked = () => page.evaluate(() => (window as unknown as { asked: string[] }).asked);
      await page.goto(`${app.server.url}/?view=offer&slug=harbour-quarter&option=public&discover=off`);
      await page.getByRole('button', { name: 'Connect wallet' }).click();
      await page.getByRole('button', { name: 'Test wallet', exact: true }).waitFor();
      expect(await asked()).toEqual([]);
      await page.goto(`${app.server.url}/?view=offer&slug=harbour-quarter&option=public`);
      await expect.poll(asked).toEqual(['eip6963:requestProvider', 'wallet-standard:app-ready']);
    });
  });

  test('connected to an offer can be removed after a confirmation', async () => {
    const path = '?view=offer&slug=harbour-quarter&option=syndicate&section=checklist&wallets';
    await app.visit(path, async ({ page, wallet }) => {
      await page.getByText('No wallets connected').waitFor();
      await connect(page);
      await page.getByText('All done. You can invest now.').waitFor();
      await page.getByRole('button', { name: `Remove ${wallet.toLowerCase()}` }).click();
      await shoot(page, 'wallets-remove');
      await page.getByRole('button', { name: 'Remove wallet' }).click();
      await page.getByText('0 of 1 done').waitFor();
      await page.getByText('No wallets connected').waitFor();
    });
  });
});
