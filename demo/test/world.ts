import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { launchChromium } from '../../service/test/setup/chromium.ts';
import { type Service, startService } from '../../service/test/support/service.ts';

export type World = {
  /** Where the app is. */
  url: string;
  service(): Service;
  /** A person with a browser window of their own. */
  visit(run: (page: Page, context: BrowserContext) => Promise<void>): Promise<void>;
  post(path: string, body: object): Promise<Record<string, unknown>>;
  /** Everything is killed; start again with `comeBack`. */
  breakDown(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
};

const SHOTS = fileURLToPath(new URL('../../artifacts/screenshots/demo/', import.meta.url));

/** The sandbox as a person starts it, the app beside it, and Chromium. */
export async function startWorld(): Promise<World> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-walk-'));
  const env = { CAUSEWAY_DATA: dataDir, CAUSEWAY_DEMO: 'on', RATE_LIMIT_ACCOUNT_FORMS: '1000' };
  rmSync(SHOTS, { recursive: true, force: true });
  mkdirSync(SHOTS, { recursive: true });
  let service = await startService(env);
  const browser: Browser = await launchChromium();
  const base = service.url;
  const { demo_url } = (await (await fetch(`${base}/sandbox`)).json()) as { demo_url: string };
  return {
    url: demo_url,
    service: () => service,
    visit: (run) => visit(browser, run),
    post: (path, body) => post(`${base}${path}`, body),
    breakDown: async () => {
      await service.stop('SIGKILL');
    },
    comeBack: async () => {
      service = await startService({ ...env, PORT: new URL(base).port });
    },
    close: async () => {
      await browser.close();
      await service.stop().catch(() => undefined);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function visit(browser: Browser, run: (page: Page, context: BrowserContext) => Promise<void>) {
  const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce' });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (
      /Content.Security.Policy|Refused to|(Reference|Type|Range)Error|React error|unique "key"|Maximum update/i.test(
        message.text(),
      )
    )
      problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  try {
    await run(page, context);
    expect(problems).toEqual([]);
  } catch (error) {
    await page.screenshot({ path: join(SHOTS, `failed-${Date.now()}.png`) }).catch(() => undefined);
    throw error;
  } finally {
    await context.close();
  }
}

async function post(url: string, body: object): Promise<Record<string, unknown>> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = (await reply.json()) as Record<string, unknown>;
  expect([reply.status, answer]).toEqual([200, answer]);
  return answer;
}

export const DESKTOP = { width: 1280, height: 860 };
export const PHONE = { width: 390, height: 844 };

/** A screen as it is on a desktop and on a phone, light and dark; a window only where a dialog is open. */
export async function shoot(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  for (const [place, viewport] of [
    ['phone', PHONE],
    ['desktop', DESKTOP],
  ] as const) {
    await page.setViewportSize(viewport);
    expect(await isTooWide(page), `${name} must fit a ${place}`).toBe(false);
    if (fullPage) await page.evaluate(() => scrollTo(0, 0));
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(SHOTS, `${name}-${place}-${colorScheme}.png`), fullPage });
    }
  }
}

function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
}
