import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { base58 as reference } from '@scure/base';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { toCurl } from '../page/src/call-log.ts';
import { toCsv } from '../page/src/portfolio/download.ts';
import { createPdf, pdfBytes } from '../page/src/portfolio/pdf.ts';
import { showUsd } from '../page/src/portfolio/usd.ts';
import { base58 } from '../page/src/wallets/keys.ts';
import { buildPage } from '../server/build.ts';

let folder: string;
beforeAll(async () => {
  folder = await buildPage();
}, 120_000);

const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const gzippedSize = (paths: Iterable<string>) =>
  [...paths].reduce((sum, path) => sum + gzipSync(read(path), { level: 9 }).length, 0);

/** Returns the paths of a script and of everything it imports statically. */
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
    // Code that is needed only for investing must not load up front.
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

describe('downloads', () => {
  test('a PDF has a correct cross-reference table, and escapes its text', () => {
    const lines = Array.from({ length: 90 }, (_, n) => ({ text: `line ${n}` }));
    const pdf = createPdf('Title', [{ heading: 'A (b) \\ 🙂' }, ...lines]);
    const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(pdf)?.[1]);
    expect(pdf.slice(start, start + 5)).toBe('xref\n');
    const offsets = [...pdf.slice(start).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, at]) => Number(at));
    // The objects are the catalog, the page list, two fonts, three pages with their contents, and the title.
    expect(offsets.length).toBe(4 + 2 * 3 + 1);
    for (const [index, offset] of offsets.entries())
      expect(pdf.slice(offset)).toMatch(new RegExp(`^${index + 1} 0 obj\n`));
    expect(pdf).toContain('(A \\(b\\) \\\\ ?)');
    for (const [, length, content] of pdf.matchAll(/\/Length (\d+) >>\nstream\n([\s\S]*?)\nendstream/g))
      expect(content?.length).toBe(Number(length));
    expect(pdfBytes(pdf)).toHaveLength(pdf.length);
  });

  test('CSV quotes cells and disarms formulas', () => {
    const table = [
      ['a,b', 'say "x"'],
      ['=1+1', '-2'],
    ];
    expect(toCsv(table)).toBe(`"a,b","say ""x"""\r\n'=1+1,'-2\r\n`);
  });

  test('dollars are truncated to cents', () => {
    const shown = [0n, -999n, 1_234_567_899_999n, -1_500_000n].map(showUsd);
    expect(shown).toEqual(['$0.00', '$0.00', '$1,234,567.89', '−$1.50']);
  });
});
