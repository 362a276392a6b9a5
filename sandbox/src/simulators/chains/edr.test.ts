import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadEdr } from './edr.ts';

test('loads on this machine', () => {
  expect(new (loadEdr().ContractDecoder)()).toBeDefined();
});

test.each([
  ['win32', 'x64'],
  ['linux', 'riscv64'],
])('lists the supported machines on %s %s', (platform, arch) => {
  expect(() => loadEdr(platform, arch)).toThrow(/Linux \(glibc\) and macOS, on x64 and arm64/);
});

test('npm installs the binaries of one platform only', () => {
  const lock = JSON.parse(readFileSync(new URL('../../../../package-lock.json', import.meta.url), 'utf8'));
  const packages = lock.packages as Record<string, Record<string, unknown>>;
  const binaries = Object.keys(packages).filter((path) => path.includes('@nomicfoundation/'));
  expect(binaries).toHaveLength(4);
  for (const path of binaries) expect(packages[path], path).toMatchObject({ optional: true });
  for (const platform of ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']) {
    const [os, cpu] = platform.split('-');
    expect(packages[`sandbox/edr/${platform}`]).toMatchObject({ optional: true, os: [os], cpu: [cpu] });
  }
});
