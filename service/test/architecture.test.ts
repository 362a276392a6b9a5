import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
);

/** Data flows one way: a file may import from its own layer and from those below it. */
function layer(file: string): number {
  const name = file.split('/').at(-1) ?? '';
  if (/^(main|serve|routes)\.ts$/.test(file) || name.endsWith('-command.ts')) return 4;
  if (name === 'routes.ts' || name === 'plugin.ts' || file.startsWith('operations/')) return 3;
  if (/^(http|db|outbound|chain|operator)\//.test(file) || !file.includes('/')) return 0;
  if (name === 'store.ts' || name === 'provider.ts' || name === 'schema.ts') return 1;
  return 2;
}

const imports = files.flatMap((file) =>
  [
    ...readFileSync(join(src, file), 'utf8').matchAll(
      /^(?:import|export)\s(type\s)?[^;]*?from '(\.[^']+)'/gms,
    ),
  ].map(([, isType, target]) => ({
    file,
    isType: isType !== undefined,
    target: relative(src, join(src, dirname(file), String(target))),
  })),
);

test('imports run downwards: routes, domain, store and provider, kernel', () => {
  const wrong = imports.filter(
    ({ file, target, isType }) => !isType && layer(file) < layer(target) && file !== 'compose.ts',
  );
  expect(wrong).toEqual([]);
});

test('the kernel knows no feature, and no store knows a route', () => {
  const features =
    /^(accounts|offers|requirements|wallets|kyc|pii|documents|participations|swaps|tokenized|events)\//;
  expect(
    imports.filter(
      ({ file, target, isType }) => !isType && /^(http|db)\//.test(file) && features.test(target),
    ),
  ).toEqual([]);
});

test('only config.ts reads the environment', () => {
  const readers = files.filter((file) =>
    /process\.env\b(?!\.PATH)/.test(readFileSync(join(src, file), 'utf8')),
  );
  expect(readers).toEqual(['main.ts']);
});

describe('rules of the house', () => {
  test.each([
    ['no import of the sandbox but in serve.ts', /@causeway\/sandbox/, ['serve.ts']],
    [
      'time comes from a clock',
      /\bnew Date\(\)|Date\.now\(\)/,
      ['clock.ts', 'http/request-log.ts', 'serve.ts', 'accounts/interaction.ts'],
    ],
  ] as const)('%s', (_rule, pattern, allowed) => {
    const found = files.filter((file) => pattern.test(readFileSync(join(src, file), 'utf8')));
    expect(found.filter((file) => !(allowed as readonly string[]).includes(file))).toEqual([]);
  });

  test('no file is longer than 300 lines', () => {
    expect(files.filter((file) => readFileSync(join(src, file), 'utf8').split('\n').length > 301)).toEqual(
      [],
    );
  });
});
