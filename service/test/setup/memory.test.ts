import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeAbandoned } from './memory.ts';

const NOBODY = 65_534;

test('removes the folders of killed runs, and leaves those of another user', () => {
  const memory = mkdtempSync(join(tmpdir(), 'causeway-memory-'));
  chmodSync(memory, 0o1777);
  const [foreign, own, live] = ['a', 'b', 'c'].map((name) => join(memory, `causeway-tests-${name}`));
  const makeOld = (folder = '') => {
    mkdirSync(join(folder, 'postgres'), { recursive: true });
    utimesSync(folder, 0, 0);
  };
  makeOld(foreign);
  // If the test does not run as root, all these folders have the same owner. Only the mode then protects `foreign`.
  chmodSync(String(foreign), 0o500);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    makeOld(own);
    mkdirSync(String(live));
    removeAbandoned(memory);
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
  expect([foreign, own, live].map((folder) => existsSync(String(folder)))).toEqual([true, false, true]);
  chmodSync(String(foreign), 0o700);
  rmSync(memory, { recursive: true });
});
