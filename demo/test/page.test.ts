import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { base58 as reference } from '@scure/base';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { toCurl } from '../page/src/calls.ts';
import { base58 } from '../page/src/wallets/keys.ts';
import { buildPage } from '../server/build.ts';

let folder: string;
beforeAll(async () => {
  folder = await buildPage();
}, 120_000);

const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const packed = (paths: Iterable<string>) =>
  [...paths].reduce((sum, path) => sum + gzipSync(read(path), { level: 9 }).length, 0);

/** A script and all that it cannot start without. */
function withImports(path: string, known = new Set<string>()): Set<string> {
  if (known.has(path)) return known;
  known.add(path);
  for (const [, target] of read(path).matchAll(/(?:from|^import|;import)\s*["'](\.\/[^"']+\.js)["']/g))
    withImports(join(dirname(path), String(target)), known);
  return known;
}

describe('the built page', () => {
  test('needs less than 200 KB of script, compressed, before it shows anything', () => {
    const html = read('index.html');
    const [, entry] = /<script type="module"[^>]* src="\/([^"]+)"/.exec(html) ?? [];
    const preloaded = [...html.matchAll(/rel="modulepreload"[^>]* href="\/([^"]+)"/g)].map(([, path]) =>
      String(path),
    );
    const first = new Set([String(entry), ...preloaded].flatMap((path) => [...withImports(path)]));
    expect(first.size).toBeGreaterThan(0);
    expect(packed(first)).toBeLessThan(200_000);
    // What only an investor needs is not among it.
    expect([...first].filter((path) => /secp256k1|test-wallet|invest/.test(path))).toEqual([]);
  });

  test('has no inline script or style, which its policy would refuse', () => {
    const html = read('index.html');
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
    expect([...html.matchAll(/<script(?![^>]* src=)/g)]).toEqual([]);
  });

  test('is built once for one state of the sources', async () => {
    expect(await buildPage()).toBe(folder);
  });
});

test('a call is copied as curl with the token left out and quotes that hold', () => {
  const body = { note: "it's", token: '[redacted]' };
  expect(toCurl({ method: 'POST', path: '/v1/x', requestBody: body }, 'http://h')).toBe(
    `curl -X POST 'http://h/v1/x' \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -H 'content-type: application/json' \\\n  -d '{"note":"it'\\''s","token":"[redacted]"}'`,
  );
});

test('keys of the Solana test wallet are written as the rest of the world writes them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      expect(base58([...bytes])).toBe(reference.encode(bytes));
    }),
  );
});
