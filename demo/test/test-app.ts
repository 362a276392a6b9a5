import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { launchChromium } from '../../service/test/setup/chromium.ts';
import { findViolations, loadAxe } from '../../service/test/support/axe.ts';
import { type Service, startService } from '../../service/test/support/service.ts';

export type TestApp = {
  /** The demo's URL. */
  url: string;
  service(): Service;
  /** Opens a page in a fresh browser context. Fails if any page in the context logs an error to the console. */
  visit(run: (page: Page, context: BrowserContext) => Promise<void>): Promise<void>;
  post(path: string, body: object): Promise<Record<string, unknown>>;
  /** Kills the service and the demo. `restart` starts them again. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  close(): Promise<void>;
};

let axe: string;
const SCREENSHOTS = fileURLToPath(new URL('../../artifacts/screenshots/demo/', import.meta.url));

/** Starts Chromium. Starts the sandbox with the demo, as `npm start` does. */
export async function startTestApp(): Promise<TestApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-demo-'));
  const env = { CAUSEWAY_DATA: dataDir, CAUSEWAY_DEMO: 'on', RATE_LIMIT_ACCOUNT_FORMS: '1000' };
  rmSync(SCREENSHOTS, { recursive: true, force: true });
  mkdirSync(SCREENSHOTS, { recursive: true });
  let service = await startService(env);
  const browser: Browser = await launchChromium();
  axe = await loadAxe();
  const base = service.url;
  const { demo_url } = (await (await fetch(`${base}/sandbox`)).json()) as { demo_url: string };
  return {
    url: demo_url,
    service: () => service,
    visit: (run) => visit(browser, run),
    post: (path, body) => post(`${base}${path}`, body),
    kill: async () => {
      await service.stop('SIGKILL');
    },
    restart: async () => {
      service = await startService({ ...env, PORT: new URL(base).port });
    },
    close: async () => {
      await browser.close();
      await service.discard().catch(() => undefined);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function visit(browser: Browser, run: (page: Page, context: BrowserContext) => Promise<void>) {
  const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce' });
  context.setDefaultTimeout(30_000);
  const errors: string[] = [];
  context.on('console', (message) => {
    if (
      /Content.Security.Policy|Refused to|(Reference|Type|Range)Error|React error|unique "key"|Maximum update/i.test(
        message.text(),
      )
    )
      errors.push(message.text());
  });
  context.on('weberror', (error) => errors.push(String(error.error())));
  const page = await context.newPage();
  try {
    await run(page, context);
    expect(errors).toEqual([]);
  } catch (error) {
    await page.screenshot({ path: join(SCREENSHOTS, `failed-${Date.now()}.png`) }).catch(() => undefined);
    throw error;
  } finally {
    await context.close();
  }
}

async function post(url: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const result = (await response.json()) as Record<string, unknown>;
  expect([response.status, result]).toEqual([200, result]);
  return result;
}

export const DESKTOP = { width: 1280, height: 860 };
export const PHONE = { width: 390, height: 844 };

/**
 * Checks that a screen fits a phone and a desktop, and checks its accessibility on the phone. Saves screenshots of the
 * phone in light mode and the desktop in dark mode. If `SCREENSHOTS` is set, saves screenshots and checks accessibility
 * on both devices in both modes. Use `fullPage: false` if a dialog is open.
 */
export async function shoot(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  const isComplete = process.env.SCREENSHOTS !== undefined;
  for (const [device, viewport, colorSchemes] of [
    ['phone', PHONE, ['light', 'dark']],
    ['desktop', DESKTOP, ['dark', 'light']],
  ] as const) {
    await page.setViewportSize(viewport);
    expect(await isTooWide(page), `${name} must fit a ${device}`).toBe(false);
    if (fullPage) await page.evaluate(() => scrollTo(0, 0));
    for (const colorScheme of colorSchemes.slice(0, isComplete ? 2 : 1)) {
      await page.emulateMedia({ colorScheme });
      const file = `${name}-${device}-${colorScheme}`;
      await page.screenshot({ path: join(SCREENSHOTS, `${file}.png`), fullPage });
      if (isComplete || device === 'phone') expect(await findViolations(page, axe), file).toEqual([]);
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
}

/**
 * Starts a stopwatch. The returned function reports the seconds since the start and the number of clicks that the user
 * has made in all pages and frames of the context.
 */
export async function startStopwatch(context: BrowserContext) {
  let clicks = 0;
  const startedAt = Date.now();
  await context.exposeBinding('countClick', () => {
    clicks++;
  });
  await context.addInitScript(() => {
    const count = (window as unknown as { countClick(): void }).countClick;
    // A click on a label makes the browser fire a second click, on the label's field. The user did not make that click.
    addEventListener('click', (event) => event.isTrusted && event.detail > 0 && count(), true);
  });
  return () => ({ seconds: Math.round((Date.now() - startedAt) / 1_000), clicks });
}
