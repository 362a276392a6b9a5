import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { compileContracts, findStale } from '../build.ts';

let modules: Map<string, string>;

beforeAll(() => {
  modules = compileContracts();
});

it('the committed ABIs and bytecode are what the sources compile to', () => {
  expect(findStale(modules)).toEqual([]);
});

it('notices a changed, a missing and a left-over module', () => {
  const changed = new Map(modules).set('sale-fund.ts', '').set('new.ts', '');
  changed.delete('token.ts');
  expect(findStale(changed)).toEqual(['new.ts', 'sale-fund.ts', 'token.ts']);
});

it('every contract is below the size that chains accept (EIP-170)', () => {
  const sizes = [...modules].map(([path, text]) => {
    const [, code = ''] = /deployedBytecode: '0x([0-9a-f]*)'/.exec(text) ?? [];
    return { path, bytes: code.length / 2 };
  });
  expect(sizes.filter(({ bytes }) => bytes === 0 || bytes > 24_576)).toEqual([]);
});

it('the compiler and the library are pinned to one version', () => {
  const { devDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect([devDependencies.solc, devDependencies.solady]).toEqual(['0.8.37', '0.1.26']);
});
