import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fingerprint } from '../abi/fingerprint.ts';
import { findStale, fingerprintSources } from '../build.ts';

const abi = new URL('../abi/', import.meta.url);

function committed(): Map<string, string> {
  const paths = readdirSync(abi, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  return new Map(paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(new URL(path, abi), 'utf8')]));
}

it('abi/ was compiled from the current sources, compiler and library', () => {
  expect(fingerprint).toBe(fingerprintSources());
});

it('findStale reports changed, missing and left-over modules', () => {
  const changed = committed().set('sale-fund.ts', '').set('new.ts', '');
  changed.delete('token.ts');
  expect(findStale(changed)).toEqual(['new.ts', 'sale-fund.ts', 'token.ts']);
});

it('every contract is below the EIP-170 size limit', () => {
  const sizes = [...committed()].flatMap(([path, text]) => {
    const [, code] = /deployedBytecode: '0x([0-9a-f]*)'/.exec(text) ?? [];
    return code === undefined ? [] : [{ path, bytes: code.length / 2 }];
  });
  expect(sizes.length).toBeGreaterThan(15);
  expect(sizes.filter(({ bytes }) => bytes === 0 || bytes > 24_576)).toEqual([]);
});
