import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import * as person from './person.ts';
import { DESKTOP, PHONE, shoot, type World } from './world.ts';

const SCREENS = [
  '/offers',
  '/offers/harbour-quarter',
  '/offers/harbour-quarter/invest',
  '/participations',
  '/wallets',
];
const BROKEN = {
  type: 'api_error',
  code: 'internal_error',
  message: 'Something went wrong here.',
  errors: {},
  event_id: 'walk-reference',
};

/** How far things have moved without anybody's doing since the page was opened. */
const shiftOf = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((done) => {
        let sum = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as (PerformanceEntry & {
            value: number;
            hadRecentInput: boolean;
          })[])
            if (!entry.hadRecentInput) sum += entry.value;
        }).observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => done(sum), 300);
      }),
  );

export function statesOfScreens(world: () => World): void {
  describe('every screen', { timeout: 180_000 }, () => {
    test('stays where it is while it fills', () =>
      world().visit(async (page) => {
        await page.goto(world().url);
        await page.getByText('Own a part of a working harbour').waitFor();
        expect(await shiftOf(page)).toBeLessThan(0.05);
        await person.signIn(world(), page, await person.newUser(world()));
        for (const [index, path] of [...SCREENS, ...SCREENS].entries()) {
          await page.setViewportSize(index < SCREENS.length ? DESKTOP : PHONE);
          await page.goto(world().url + path, { waitUntil: 'networkidle' });
          expect([path, (await shiftOf(page)) < 0.05]).toEqual([path, true]);
        }
      }));

    test('says what went wrong with a reference, and loads when asked again', () =>
      world().visit(async (page) => {
        await person.signIn(world(), page, await person.newUser(world()));
        for (const path of SCREENS) {
          await page.route('**/v1/**', (route) => route.fulfill({ status: 500, json: BROKEN }));
          await page.goto(world().url + path);
          const alert = page.getByRole('alert').filter({ hasText: 'walk-reference' }).first();
          await alert.waitFor();
          if (path === '/offers') await shoot(page, '30-error');
          await page.unroute('**/v1/**');
          await alert.getByRole('button', { name: 'Try again' }).click();
          await expect.poll(() => page.getByText('walk-reference').count()).toBe(0);
        }
      }));

    test('keeps the colours that were chosen, from the first byte on', () =>
      world().visit(async (page) => {
        await page.goto(world().url);
        for (const theme of ['light', 'dark']) {
          await page.getByRole('button', { name: /^Colours/ }).click();
          expect(await page.locator('html').getAttribute('data-theme')).toBe(theme);
        }
        const reply = await page.reload();
        expect(await reply?.text()).toContain('<html data-theme="dark"');
        await page.getByRole('button', { name: /Change to as the system/ }).click();
        expect(await (await page.reload())?.text()).not.toContain('data-theme');
      }));

    test('is for those who are signed in, and no longer after they have signed out', () =>
      world().visit(async (page) => {
        await page.goto(`${world().url}/participations`);
        await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
        await person.signIn(world(), page, await person.newUser(world()));
        await page.getByRole('button', { name: 'Your account' }).click();
        await shoot(page, '31-account-menu', { fullPage: false });
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.getByRole('heading', { name: 'Welcome' }).waitFor();
        const token = await page.evaluate(async () => (await fetch('/causeway/token')).status);
        expect(token).toBe(401);
        await page.goto(`${world().url}/nowhere`);
        await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
      }));
  });
}
