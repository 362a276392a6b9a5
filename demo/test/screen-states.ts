import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { DESKTOP, PHONE, shoot, type TestApp } from './test-app.ts';
import * as user from './user-actions.ts';

const SCREENS = [
  '/offers',
  '/offers/harbour-quarter',
  '/offers/harbour-quarter/invest',
  '/portfolio',
  '/wallets',
];
const LOADING = '[aria-busy="true"], .cw-skeleton, [aria-label="Loading"]';
const BROKEN = {
  type: 'api_error',
  code: 'internal_error',
  message: 'Something went wrong here.',
  errors: {},
  event_id: 'test-reference',
};

/** Returns the layout shift since the page opened, excluding shifts caused by user input. */
const layoutShift = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let sum = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as (PerformanceEntry & {
            value: number;
            hadRecentInput: boolean;
          })[])
            if (!entry.hadRecentInput) sum += entry.value;
        }).observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => resolve(sum), 300);
      }),
  );

export function screenStateTests(app: () => TestApp): void {
  describe('every screen', { timeout: 180_000 }, () => {
    test('loads without layout shift', () =>
      app().visit(async (page) => {
        await page.goto(app().url);
        await page.getByText('Own a share of a working harbour').waitFor();
        expect(await layoutShift(page)).toBeLessThan(0.05);
        await user.signIn(app(), page, await user.newUser(app()));
        for (const [index, path] of [...SCREENS, ...SCREENS].entries()) {
          await page.setViewportSize(index < SCREENS.length ? DESKTOP : PHONE);
          await page.goto(app().url + path);
          await page.getByRole('heading').first().waitFor();
          await expect.poll(() => page.locator(LOADING).count()).toBe(0);
          expect([path, (await layoutShift(page)) < 0.05]).toEqual([path, true]);
        }
      }));

    test('says that the offers of the landing page failed to load, and loads them later', () =>
      app().visit(async (page) => {
        await page.route('**/offers.json', (route) => route.fulfill({ status: 503, json: {} }));
        await page.goto(app().url);
        const notice = page.getByText("We can't load the offers right now. We'll keep trying.");
        await notice.waitFor();
        await shoot(page, '33-landing-without-offers');
        await page.unroute('**/offers.json');
        await page.getByRole('link', { name: 'Harbour Quarter' }).waitFor();
        expect(await notice.count()).toBe(0);
      }));

    test('shows an error with its reference, and loads on retry', () =>
      app().visit(async (page) => {
        await user.signIn(app(), page, await user.newUser(app()));
        for (const path of SCREENS) {
          await page.route('**/v1/**', (route) => route.fulfill({ status: 500, json: BROKEN }));
          await page.goto(app().url + path);
          const alert = page.getByRole('alert').filter({ hasText: 'test-reference' }).first();
          await alert.waitFor();
          if (path === '/offers') await shoot(page, '30-error');
          await page.unroute('**/v1/**');
          await alert.getByRole('button', { name: 'Try again' }).click();
          await expect.poll(() => page.getByText('test-reference').count()).toBe(0);
        }
      }));

    test('renders the chosen theme from the first response', () =>
      app().visit(async (page) => {
        await page.goto(app().url);
        for (const theme of ['light', 'dark']) {
          await page.getByRole('button', { name: /^Theme/ }).click();
          expect(await page.locator('html').getAttribute('data-theme')).toBe(theme);
        }
        const response = await page.reload();
        expect(await response?.text()).toContain('<html data-theme="dark"');
        await page.getByRole('button', { name: /Switch to system/ }).click();
        expect(await (await page.reload())?.text()).not.toContain('data-theme');
      }));

    test('requires sign-in, again after signing out', () =>
      app().visit(async (page) => {
        await page.goto(`${app().url}/portfolio`);
        await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
        await user.signIn(app(), page, await user.newUser(app()));
        await page.locator('.sparkline polyline').first().waitFor();
        await shoot(page, '02-offers');
        await page.getByRole('link', { name: 'Portfolio', exact: true }).click();
        await page.getByText("You haven't invested yet").waitFor();
        await shoot(page, '03-no-investments');
        await page.getByRole('button', { name: 'Your account' }).click();
        await shoot(page, '31-account-menu', { fullPage: false });
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.getByRole('heading', { name: 'Welcome' }).waitFor();
        const token = await page.evaluate(async () => (await fetch('/causeway/token')).status);
        expect(token).toBe(401);
        await page.goto(`${app().url}/nowhere`);
        await page.getByRole('heading', { name: 'Page not found' }).waitFor();
      }));
  });
}
