import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PAGE_COLOURS } from './assets.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const tokens = read('tokens.css');

test('the stylesheets use only tokens that exist, and no colours of their own', () => {
  const known = new Set([...tokens.matchAll(/(--cw-[\w-]+):/g)].map(([, name]) => name));
  for (const file of ['theme.css', 'causeway.css', 'docs.css']) {
    const css = read(file);
    const used = [...css.matchAll(/var\((--cw-[\w-]+)\)/g)].map(([, name]) => name);
    expect([file, used.filter((name) => !known.has(name))]).toEqual([file, []]);
    // The only literal color allowed is white, because a QR code has a white background in both themes.
    expect([
      file,
      [...css.matchAll(/#[0-9a-f]{3,8}\b/g)].map(([colour]) => colour).filter((c) => c !== '#ffffff'),
    ]).toEqual([file, []]);
  }
  expect(PAGE_COLOURS.light).not.toBe(PAGE_COLOURS.dark);
});

test('mails use the colours of the light theme', () => {
  const light = tokens.slice(0, tokens.indexOf('@media'));
  const used = [...read('../mail/mail.ts').matchAll(/#[0-9a-f]{6}\b/g)].map(([colour]) => colour);
  expect(used.length).toBeGreaterThan(3);
  expect(used.filter((colour) => !light.includes(colour))).toEqual([]);
});
