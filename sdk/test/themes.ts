import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const SURFACE = { light: 'rgb(255, 255, 255)', dark: 'rgb(21, 30, 34)' };
const ACCENT = { light: 'rgb(11, 92, 102)', dark: 'rgb(127, 208, 207)' };
const ON_ACCENT = { light: 'rgb(255, 255, 255)', dark: 'rgb(4, 39, 42)' };

type Theme = 'light' | 'dark';
/** What decides between light and dark: the operating system, and what the page sets on its root element. */
type Setting = { system: Theme; colorScheme?: string; theme?: string; className?: string };

/** Every documented way in which a page chooses a theme, with the theme that the components must have. */
const SETTINGS: readonly (readonly [Theme, Setting])[] = [
  ['light', { system: 'light' }],
  ['dark', { system: 'dark' }],
  ['light', { system: 'dark', colorScheme: 'light' }],
  ['dark', { system: 'light', colorScheme: 'dark' }],
  ['light', { system: 'dark', colorScheme: 'dark', theme: 'light' }],
  ['dark', { system: 'light', colorScheme: 'light', theme: 'dark' }],
  ['dark', { system: 'light', colorScheme: 'light', className: 'dark' }],
];

/**
 * Checks the colors of the components on the page, whatever chooses the theme. The page must show a main button and have
 * `<meta name="color-scheme" content="light dark">`.
 */
export async function expectThemes(page: Page): Promise<void> {
  for (const [theme, setting] of SETTINGS) {
    await choose(page, setting);
    expect(await readColors(page), JSON.stringify(setting)).toEqual({
      surface: SURFACE[theme],
      button: ACCENT[theme],
      buttonText: ON_ACCENT[theme],
    });
    // Text without a background of its own is readable only if the page around it has the same theme.
    if (setting.theme === undefined && setting.className === undefined)
      expect(await findFaintTexts(page), JSON.stringify(setting)).toEqual([]);
  }
  await choose(page, { system: 'light' });
}

async function choose(page: Page, { system, ...root }: Setting): Promise<void> {
  await page.emulateMedia({ colorScheme: system, reducedMotion: 'reduce' });
  await page.evaluate(({ colorScheme = '', theme, className = '' }) => {
    const { documentElement } = document;
    documentElement.style.colorScheme = colorScheme;
    documentElement.className = className;
    if (theme === undefined) delete documentElement.dataset.theme;
    else documentElement.dataset.theme = theme;
  }, root);
}

const readColors = (page: Page) =>
  page.evaluate(() => {
    const styleOf = (selector: string) => getComputedStyle(document.querySelector(selector) as Element);
    const button = styleOf('.cw-button-main:not(:disabled)');
    return {
      surface: styleOf('.cw-card').backgroundColor,
      button: button.backgroundColor,
      buttonText: button.color,
    };
  });

/** Returns the visible texts of the components whose contrast is below 4.5 (WCAG AA). */
const findFaintTexts = (page: Page) =>
  page.evaluate(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    if (canvas === null) throw new Error('no canvas');
    const paint = (colors: string[]) => {
      for (const color of colors) {
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
      }
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const luminance = (rgb: number[]) => {
      const [red = 0, green = 0, blue = 0] = rgb.map((value) => {
        const part = value / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const probe = document.createElement('div');
    probe.style.background = 'Canvas';
    document.body.append(probe);
    const pageColor = getComputedStyle(probe).backgroundColor;
    probe.remove();
    const faint: string[] = [];
    for (const element of document.querySelectorAll<HTMLElement>('.cw, .cw *')) {
      const text = [...element.childNodes]
        .flatMap((node) => (node.nodeType === Node.TEXT_NODE ? (node.textContent ?? '') : []))
        .join('')
        .trim();
      const isVisible = element.checkVisibility({ visibilityProperty: true }) && element.offsetWidth > 1;
      if (text === '' || !isVisible || element.closest(':disabled') !== null) continue;
      const backgrounds: string[] = [];
      for (let node: Element | null = element; node !== null; node = node.parentElement)
        backgrounds.unshift(getComputedStyle(node).backgroundColor);
      const behind = [pageColor, ...backgrounds];
      const [back, front] = [paint(behind), paint([...behind, getComputedStyle(element).color])].map(
        luminance,
      );
      const [low = 0, high = 0] = [back ?? 0, front ?? 0].sort((a, b) => a - b);
      const ratio = (high + 0.05) / (low + 0.05);
      if (ratio < 4.5) faint.push(`${text.slice(0, 40)}: ${ratio.toFixed(2)}`);
    }
    return faint;
  });
