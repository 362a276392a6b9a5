import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const HEADER = '/* Generated from sdk/src/react/styles/theme.css by `npm run generate`; do not edit. */\n';
const LIGHT_DARK = 'light-dark(';

const resolvePath = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const theme = await readFile(resolvePath('src/react/styles/theme.css'), 'utf8');
await writeFile(resolvePath('../service/src/pages/tokens.css'), generateTokens(theme));

/**
 * Returns the design tokens for the hosted pages. Replaces `light-dark()` with a media query: the sign-in pages must
 * also work in browsers from before 2024, which do not support `light-dark()`.
 */
function generateTokens(css: string): string {
  const block = /:where\(:root\) \{\n([\s\S]*?)\n\}/.exec(css)?.[1] ?? '';
  const tokens = [...block.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, name = '', value = '']) => ({
    name,
    value: value.replace(/\s+/g, ' '),
  }));
  const declare = (theme: 'light' | 'dark') => (token: { name: string; value: string }) =>
    `${token.name}: ${choose(token.value, theme)};\n`;
  const light = tokens.map(declare('light')).map((line) => `  ${line}`);
  const dark = tokens.filter(({ value }) => value.includes(LIGHT_DARK)).map(declare('dark'));
  const darkLines = dark.map((line) => `    ${line}`).join('');
  return `${HEADER}:root {\n  color-scheme: light dark;\n${light.join('')}}\n\n@media (prefers-color-scheme: dark) {\n  :root {\n${darkLines}  }\n}\n`;
}

/** Replaces every `light-dark(a, b)` in the value with the variant for `theme`. */
function choose(value: string, theme: 'light' | 'dark'): string {
  const start = value.indexOf(LIGHT_DARK);
  if (start === -1) return value;
  let depth = 0;
  let comma = 0;
  let end = start + LIGHT_DARK.length;
  for (; depth >= 0; end++) {
    if (value[end] === '(') depth++;
    if (value[end] === ')') depth--;
    if (value[end] === ',' && depth === 0) comma = end;
  }
  const chosen =
    theme === 'light' ? value.slice(start + LIGHT_DARK.length, comma) : value.slice(comma + 1, end - 1);
  return choose(value.slice(0, start) + chosen.trim() + value.slice(end), theme);
}
