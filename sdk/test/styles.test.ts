import { readFileSync } from 'node:fs';
import { transform as transformWithEsbuild } from 'esbuild';
import { transform as transformWithLightningCss } from 'lightningcss';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../service/test/setup/chromium.ts';
import { expectThemes } from './themes.ts';

const read = (path: string) => readFileSync(new URL(`../src/react/${path}`, import.meta.url), 'utf8');
const css = read('styles.css').replace(/@import "(.+)";/g, (_, path: string) => read(path));
/** The oldest browsers that Next 16 and Vite 8 build for by default. */
const TARGETS = { chrome: 111 << 16, edge: 111 << 16, firefox: 114 << 16, safari: (16 << 16) | (4 << 8) };

const compileWithEsbuild = async () =>
  (await transformWithEsbuild(css, { loader: 'css', minify: true, target: ['chrome111', 'safari16.4'] }))
    .code;
const compileWithLightningCss = () =>
  transformWithLightningCss({
    filename: 'styles.css',
    code: Buffer.from(css),
    minify: true,
    targets: TARGETS,
  }).code.toString();

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const CARD = `<div class="cw"><div class="cw-card"><p>Text</p><p class="cw-muted">Muted</p>
  <button class="cw-button cw-button-main">Invest</button></div></div>`;

const META = '<meta name="color-scheme" content="light dark">';

async function open(styles: string, content = META + CARD): Promise<Page> {
  const page = await browser.newPage();
  await page.setContent(`<!doctype html><style>${styles}</style>${content}`);
  return page;
}

const colorOf = (page: Page, selector: string) =>
  page.locator(selector).evaluate((element) => getComputedStyle(element).backgroundColor);

describe.each([
  ['as it is', () => css],
  ['built by esbuild', compileWithEsbuild],
  ['built by LightningCSS', compileWithLightningCss],
])('the stylesheet, %s,', (_, compile) => {
  test('has the colors of every theme that a page can choose', async () => {
    await expectThemes(await open(await compile()));
  });

  test('is light on a page without a color-scheme', async () => {
    const page = await open(await compile(), CARD);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await colorOf(page, '.cw-card')).toBe('rgb(255, 255, 255)');
  });

  test('follows the closest theme, and keeps the colors that a page sets', async () => {
    const themed = (theme: string, id: string, inside = '') =>
      `<div data-theme="${theme}"><div class="cw"><button id="${id}" class="cw-button cw-button-main"></button>
        <button id="${id}-own" class="cw-button" style="background: var(--cw-bad)"></button></div>${inside}</div>`;
    const content = themed('dark', 'outer', themed('light', 'inner'));
    const page = await open(`${await compile()} :root { --cw-bad: rgb(1, 2, 3) }`, content);
    expect([await colorOf(page, '#outer'), await colorOf(page, '#inner')]).toEqual([
      'rgb(127, 208, 207)',
      'rgb(11, 92, 102)',
    ]);
    expect([await colorOf(page, '#outer-own'), await colorOf(page, '#inner-own')]).toEqual([
      'rgb(1, 2, 3)',
      'rgb(1, 2, 3)',
    ]);
  });
});

test('a browser without light-dark() has the light theme, and the dark one where the page asks for it', async () => {
  // Chromium knows `light-dark()`, so this stylesheet uses a name that it does not know.
  const styles = compileWithLightningCss().replaceAll('light-dark(', 'unknown-function(');
  const page = await open(styles, `${CARD}<div class="dark" id="dark">${CARD}</div>`);
  await page.emulateMedia({ colorScheme: 'dark' });
  const cards = page.locator('.cw-card');
  const colorsOf = (index: number) =>
    cards.nth(index).evaluate((card) => {
      const { backgroundColor, boxShadow, colorScheme } = getComputedStyle(card);
      return { backgroundColor, hasShadow: boxShadow !== 'none', colorScheme };
    });
  expect(await colorsOf(0)).toEqual({
    backgroundColor: 'rgb(255, 255, 255)',
    hasShadow: true,
    colorScheme: 'light',
  });
  expect(await colorsOf(1)).toMatchObject({ backgroundColor: 'rgb(21, 30, 34)', colorScheme: 'dark' });
});
