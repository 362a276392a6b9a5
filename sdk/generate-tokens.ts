import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const HEADER = '/* Generated from sdk/src/react/styles/theme.css by `npm run generate`; do not edit. */\n';
/** Matches a `light-dark()` and captures both of its variants. */
const LIGHT_DARK = /light-dark\(((?:\([^()]*\)|[^()])+) var\(--cw-comma\) ((?:\([^()]*\)|[^()])+)\)/g;

type Token = { name: string; value: string };
type Theme = 'light' | 'dark';

const resolvePath = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const css = await readFile(resolvePath('src/react/styles/theme.css'), 'utf8');
const block = /:where\(:root\) \{\n([\s\S]*?)\n\}/.exec(css)?.[1] ?? '';
const tokens: Token[] = [...block.matchAll(/(--[\w-]+):\s*([^;]+);/g)]
  .map(([, name = '', value = '']) => ({ name, value: value.replace(/\s+/g, ' ') }))
  .filter(({ name }) => name !== '--cw-comma');
const colors = tokens.filter(({ value }) => value.includes('light-dark('));

await writeFile(resolvePath('../service/src/platform/pages/tokens.css'), pageTokens());
await writeFile(resolvePath('src/react/styles/fallback.css'), fallback());

/**
 * Returns the design tokens for the hosted pages. Replaces `light-dark()` with a media query: the sign-in pages must
 * also work in browsers from before 2024, which do not support `light-dark()`.
 */
function pageTokens(): string {
  return `${HEADER}:root {
  color-scheme: light dark;
${declare(tokens, 'light', '  ')}
}

@media (prefers-color-scheme: dark) {
  :root {
${declare(colors, 'dark', '    ')}
  }
}
`;
}

/** Returns the colors of the components for browsers without `light-dark()`, which Next and Vite still support. */
function fallback(): string {
  return `${HEADER}@supports not (color: light-dark(#000, #fff)) {
  :where(:root, [data-theme="light"]) {
    --cw-scheme: light;
${declare(colors, 'light', '    ')}
  }
  :where([data-theme="dark"], .dark) {
    --cw-scheme: dark;
${declare(colors, 'dark', '    ')}
  }
}
`;
}

function declare(list: Token[], theme: Theme, indent: string): string {
  const variant = theme === 'light' ? '$1' : '$2';
  return list.map(({ name, value }) => `${indent}${name}: ${value.replace(LIGHT_DARK, variant)};`).join('\n');
}
