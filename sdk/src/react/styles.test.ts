import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const css = read('styles.css').replace(/@import "(.+)";/g, (_, path: string) => read(path));

/** Returns the colors of a theme, keyed by variable name. */
function palette(theme: 'light' | 'dark'): Map<string, string> {
  const pairs = css.matchAll(
    /--cw-([\w-]+):\s*light-dark\((#[0-9a-f]{6}) var\(--cw-comma\) (#[0-9a-f]{6})\)/g,
  );
  return new Map(
    [...pairs].map(([, name = '', light = '', dark = '']) => [name, theme === 'light' ? light : dark]),
  );
}

/** Returns the contrast ratio of two colors, as defined in WCAG 2.2. */
function contrast(a: string, b: string): number {
  const luminance = (hex: string) => {
    const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
    const [red = 0, green = 0, blue = 0] = parts.map((part) =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}

const TEXT = [
  ...['surface', 'surface-sunken', 'busy-soft', 'attention-soft', 'bad-soft'].map(
    (back) => ['text', back] as const,
  ),
  ...['surface', 'surface-sunken', 'neutral-soft', 'busy-soft', 'bad-soft'].map(
    (back) => ['text-muted', back] as const,
  ),
  ...['good', 'busy', 'attention', 'bad', 'neutral'].map((tone) => [tone, `${tone}-soft`] as const),
  ...[['accent', 'surface'] as const, ['bad', 'surface'] as const],
  ...[['on-accent', 'accent'] as const, ['on-accent', 'accent-hover'] as const],
];
const MARKS = ['border-strong', 'focus', 'good', 'busy', 'neutral'].map((name) => [name, 'surface'] as const);

describe.each(['light', 'dark'] as const)('the %s theme', (theme) => {
  const colours = palette(theme);
  const ratio = ([front, back]: readonly [string, string]) =>
    contrast(colours.get(front) ?? '', colours.get(back) ?? '');

  test.each(TEXT)('text %s on %s is readable (WCAG AA)', (...pair) => {
    expect(ratio(pair)).toBeGreaterThanOrEqual(4.5);
  });
  test.each(MARKS)('mark %s on %s is visible (WCAG AA)', (...pair) => {
    expect(ratio(pair)).toBeGreaterThanOrEqual(3);
  });
});

test('the host decides between light and dark, never the operating system', () => {
  expect(css).not.toMatch(/prefers-color-scheme/);
  expect(css).toContain('color-scheme: var(--cw-scheme, inherit);');
  expect(palette('dark').size).toBeGreaterThan(15);
});

test('every CSS rule applies only inside the components', () => {
  const plain = css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/@keyframes[^{]+\{(?:[^{}]*\{[^}]*\})*\s*\}/g, '');
  const selectors = [...plain.matchAll(/([^{}]+)\{/g)]
    .map(([, text = '']) => text.trim())
    .filter((text) => !text.startsWith('@'))
    .flatMap((text) => text.split(/,(?![^(]*\))/))
    .map((text) => text.trim());
  expect(selectors.length).toBeGreaterThan(100);
  expect(selectors.filter((one) => !/\.cw\b|\.cw-/.test(one) && !one.startsWith(':where('))).toEqual([]);
});
