import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, openWorld, shoot, type World } from './visitor.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 180_000);
afterAll(() => world?.close());

/** What has moved without the user's doing, as browsers count it. */
const layoutShift = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((done) => {
        new PerformanceObserver((list) =>
          done(
            list
              .getEntries()
              .reduce((sum, one) => sum + (one as PerformanceEntry & { value: number }).value, 0),
          ),
        ).observe({ type: 'layout-shift', buffered: true });
        requestAnimationFrame(() => setTimeout(() => done(0), 100));
      }),
  );

describe('the offers', () => {
  test('lead from the grid to the offer, without anything moving', async () => {
    await world.visit('', async ({ page }) => {
      await page.getByRole('link', { name: 'Harbour Quarter' }).waitFor();
      await expect.poll(() => page.getByRole('article').count()).toBeGreaterThan(5);
      await page.getByRole('link', { name: 'Apple (tokenized)' }).waitFor();
      expect(await layoutShift(page)).toBeLessThan(0.01);
      await shoot(page, 'offers');
      await page.getByRole('link', { name: 'Harbour Quarter' }).click();
      await page.getByRole('heading', { level: 1, name: 'Harbour Quarter' }).waitFor();
      await page.getByText('Warehouses one to four opened').waitFor();
      await page.getByText('Read the sale agreement').waitFor();
      expect(await layoutShift(page)).toBeLessThan(0.05);
      await page.getByText('What do I own?').click();
      await page.getByText('A share of the company that holds the land').waitFor();
      await shoot(page, 'offer');
    });
  });

  test('are measured by something that notices a move', async () => {
    await world.visit('', async ({ page }) => {
      await page.getByRole('link', { name: 'Harbour Quarter' }).waitFor();
      await page.evaluate(() => {
        const intruder = document.createElement('div');
        intruder.style.height = '200px';
        document.body.prepend(intruder);
      });
      await expect.poll(() => layoutShift(page)).toBeGreaterThan(0.05);
    });
  });

  test.each([
    ['', 'Tesla (tokenized)'],
    ['?view=offer&slug=harbour-quarter&option=public', 'You pay'],
    ['?view=offer&slug=harbour-quarter&option=accredited', '0 of 7 done'],
    ['?view=offer&slug=apple-tokenized', 'per order'],
  ])('keep within a phone of 320 pixels: /%s', async (path, text) => {
    await world.visit('?view=sign-in', async ({ page }) => {
      await page.setViewportSize({ width: 320, height: 640 });
      await page.goto(`${world.server.url}/${path}`);
      await page.getByText(text).first().waitFor();
      const widest = await page.evaluate(() =>
        Math.max(
          ...[...document.querySelectorAll('#root *')].map((one) => one.getBoundingClientRect().right),
        ),
      );
      expect(widest).toBeLessThanOrEqual(320);
    });
  });
});

describe('the hooks', () => {
  const quotes = (page: Page) => {
    const seen: string[] = [];
    page.on('request', (one) => one.url().includes('/quote') && seen.push(one.url()));
    return seen;
  };

  test('ask once for what two components show, in strict mode too', async () => {
    await world.visit('?view=sign-in', async ({ page }) => {
      await shoot(page, 'sign-in');
      const seen = quotes(page);
      let release: () => void = () => undefined;
      const held = new Promise<void>((done) => {
        release = done;
      });
      await page.route('**/quote*', async (route) => {
        await held;
        await route.continue();
      });
      await page.goto(`${world.server.url}/?view=probe`);
      await page.locator('#b').getByText('loading').waitFor();
      expect(seen).toHaveLength(1);
      release();
      await expect.poll(() => page.locator('#a').textContent()).toMatch(/^\d/);
      expect(await page.locator('#a').textContent()).toBe(await page.locator('#b').textContent());
    });
  });

  test('do not poll while the page is hidden, and catch up when it is shown', async () => {
    await world.visit('?view=sign-in', async ({ page }) => {
      await page.clock.install();
      const seen = quotes(page);
      await page.goto(`${world.server.url}/?view=probe`);
      const poll = async () => {
        const answered = page.waitForEvent('requestfinished', (one) => one.url().includes('/quote'));
        await page.clock.runFor(500);
        await answered;
      };
      for (let polls = 0; polls < 3; polls++) await poll();
      const turn = (state: string) =>
        page.evaluate((value) => {
          Object.defineProperty(document, 'visibilityState', { value, configurable: true });
          document.dispatchEvent(new Event('visibilitychange'));
        }, state);
      await turn('hidden');
      const before = seen.length;
      await page.clock.runFor(60_000);
      expect(seen.length).toBe(before);
      await turn('visible');
      await expect.poll(() => seen.length).toBe(before + 1);
      await poll();
    });
  });

  test('abort what nobody shows any more', async () => {
    await world.visit('?view=probe', async ({ page }) => {
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

describe('what goes wrong', () => {
  test('is told with what to do and the reference, and tried again', async () => {
    await world.visit('?view=sign-in', async ({ page }) => {
      const error = {
        type: 'api_error',
        code: 'internal_error',
        message: 'x',
        errors: {},
        event_id: 'req-77',
      };
      await page.route('**/v1/offers?*', (route) => route.fulfill({ status: 500, json: error }));
      await page.goto(`${world.server.url}/`);
      const alert = page.getByRole('alert');
      await alert.getByText('Something went wrong on our side').waitFor();
      await alert.getByText('req-77').waitFor();
      await shoot(page, 'error');
      await page.unroute('**/v1/offers?*');
      await alert.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('link', { name: 'Harbour Quarter' }).waitFor();
    });
  });

  test('a user who is signed out is led to signing in', async () => {
    await world.visit('?view=sign-in', async ({ page }) => {
      const error = { type: 'api_error', code: 'unauthorized', message: 'x', errors: {}, event_id: 'e' };
      await page.route('**/v1/participations*', (route) => route.fulfill({ status: 401, json: error }));
      await page.goto(`${world.server.url}/?view=participations`);
      const link = page.getByRole('alert').getByRole('link', { name: 'Sign in' });
      expect(await link.getAttribute('href')).toBe('/causeway/sign-in');
    });
  });
});

describe('wallets', () => {
  test('that announce themselves are offered, connected from the keyboard, and remembered', async () => {
    await world.visit('?view=sign-in', async ({ page, context, wallet }) => {
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
      await page.goto(`${world.server.url}/?view=offer&slug=harbour-quarter&option=public`);
      const opener = page.getByRole('button', { name: 'Connect a wallet' });
      await opener.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Connect a wallet' }).waitFor();
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

  test('that are bound can be removed, after a second question', async () => {
    const place = '?view=offer&slug=harbour-quarter&option=syndicate&what=checklist&wallets';
    await world.visit(place, async ({ page, wallet }) => {
      await page.getByText('No wallets bound').waitFor();
      await connect(page);
      await page.getByText('All done. You can invest now.').waitFor();
      await page.getByRole('button', { name: `Remove ${wallet.toLowerCase()}` }).click();
      await shoot(page, 'wallets-remove');
      await page.getByRole('button', { name: 'Remove it' }).click();
      await page.getByText('0 of 1 done').waitFor();
      await page.getByText('No wallets bound').waitFor();
    });
  });
});
