import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from './setup/chromium.ts';
import { findViolations, loadAxe } from './support/axe.ts';
import { type Service, startService } from './support/service.ts';

const PAGES = ['/', '/docs', '/docs/guides/partners', '/docs/errors', '/no-such-page', '/oauth/logout'];

let service: Service;
let dataDir: string;
let browser: Browser;
let axe: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'causeway-docs-'));
  axe = await loadAxe();
  browser = await launchChromium();
  service = await startService({ CAUSEWAY_DATA: dataDir });
}, 10 * 60_000);
afterAll(async () => {
  await browser?.close();
  await service?.discard();
  await rm(dataDir, { recursive: true, force: true });
});

async function open(path: string, options: { width?: number; colorScheme?: 'light' | 'dark' } = {}) {
  const { width = 1280, colorScheme = 'light' } = options;
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme,
  });
  const page = await context.newPage();
  await page.goto(service.url + path);
  await page.locator('h1').first().waitFor();
  return { page, close: () => context.close() };
}

test.each([
  { width: 375, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const)('every page is accessible and fits the screen: %o', { timeout: 180_000 }, async (options) => {
  for (const path of PAGES) {
    const { page, close } = await open(path, options);
    expect([path, await findViolations(page, axe)]).toEqual([path, []]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(options.width);
    await close();
  }
});

test('in the reference of a sandbox the first call works without typing anything', async () => {
  const { page, close } = await open('/docs');
  await page.getByRole('button', { name: 'Offers', exact: false }).first().click();
  const called = page.waitForResponse((response) => response.url().includes('/v1/offers'));
  await page
    .getByRole('button', { name: /Test Request.*\/v1\/offers\)?$/ })
    .first()
    .click();
  await page.getByRole('button', { name: /^Send/ }).first().click();
  const response = await called;
  expect([response.status(), (await response.json()).object]).toEqual([200, 'list']);
  await close();
});

test('the reference documents the controls, the document for code generators does not', async () => {
  const paths = async (path: string) =>
    Object.keys(((await (await fetch(service.url + path)).json()) as { paths: object }).paths);
  expect(await paths('/docs/openapi.json')).toEqual(expect.arrayContaining(['/sandbox', '/sandbox/token']));
  expect((await paths('/openapi.json')).filter((path) => path.startsWith('/sandbox'))).toEqual([]);
});

test('every link of the guides leads to a page that exists', async () => {
  const seen = new Set<string>();
  const queue = ['/docs', '/docs/errors'];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const response = await fetch(service.url + path, { headers: { accept: 'text/html' } });
    expect([path, response.status]).toEqual([path, 200]);
    const text = await response.text();
    for (const [, href = ''] of text.matchAll(/<a href="(\/[^"#]*)/g)) queue.push(href);
    for (const [, anchor = ''] of text.matchAll(/<a href="#([^"]+)"/g))
      expect([path, text.includes(`id="${anchor}"`), anchor]).toEqual([path, true, anchor]);
  }
  expect(seen.size).toBeGreaterThan(8);
});
