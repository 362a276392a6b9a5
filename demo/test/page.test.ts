import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { base58 as reference } from '@scure/base';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { toCurl } from '../page/src/call-log.ts';
import { base58 } from '../page/src/wallets/keys.ts';
import { buildPage } from '../server/build.ts';

let folder: string;
beforeAll(async () => {
  folder = await buildPage();
}, 120_000);

const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const gzippedSize = (paths: Iterable<string>) =>
  [...paths].reduce((sum, path) => sum + gzipSync(read(path), { level: 9 }).length, 0);

/** Returns a script with everything it imports statically. */
function withImports(path: string, visited = new Set<string>()): Set<string> {
  if (visited.has(path)) return visited;
  visited.add(path);
  for (const [, target] of read(path).matchAll(/(?:from|^import|;import)\s*["'](\.\/[^"']+\.js)["']/g))
    withImports(join(dirname(path), String(target)), visited);
  return visited;
}

describe('the built page', () => {
  test('loads less than 200 KB of compressed script before it renders', () => {
    const html = read('index.html');
    const [, entry] = /<script type="module"[^>]* src="\/([^"]+)"/.exec(html) ?? [];
    const preloaded = [...html.matchAll(/rel="modulepreload"[^>]* href="\/([^"]+)"/g)].map(([, path]) =>
      String(path),
    );
    const first = new Set([String(entry), ...preloaded].flatMap((path) => [...withImports(path)]));
    expect(first.size).toBeGreaterThan(0);
    expect(gzippedSize(first)).toBeLessThan(200_000);
    // Code needed only for investing is loaded later.
    expect([...first].filter((path) => /secp256k1|test-wallet|invest/.test(path))).toEqual([]);
  });

  test('has no inline scripts or styles, which its content security policy blocks', () => {
    const html = read('index.html');
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
    expect([...html.matchAll(/<script(?![^>]* src=)/g)]).toEqual([]);
  });

  test('is not rebuilt while the sources are unchanged', async () => {
    expect(await buildPage()).toBe(folder);
  });
});

test('a call copied as curl contains no token and is quoted safely', () => {
  const body = { note: "it's", token: '[redacted]' };
  expect(toCurl({ method: 'POST', path: '/v1/x', requestBody: body }, 'http://h')).toBe(
    `curl -X POST 'http://h/v1/x' \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -H 'content-type: application/json' \\\n  -d '{"note":"it'\\''s","token":"[redacted]"}'`,
  );
});

test('base58 encodes like the reference implementation', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      expect(base58([...bytes])).toBe(reference.encode(bytes));
    }),
  );
});
