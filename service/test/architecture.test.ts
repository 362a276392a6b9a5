import { describe, expect, test } from 'vitest';
import { findCycles, readSourceTree, type SourceFile } from './support/source-tree.ts';

const SOURCE = 'service/src/';
const tree = readSourceTree();
const production = tree.filter(({ path }) => !/\.test\.tsx?$/.test(path));
const service = production.filter(({ path }) => path.startsWith(SOURCE));

const name = (path: string) => path.slice(SOURCE.length);
const folder = (path: string) => (name(path).includes('/') ? (name(path).split('/')[0] ?? '') : '');
const matching = (files: readonly SourceFile[], pattern: RegExp) =>
  files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

const KERNEL_FOLDERS = ['config', 'db', 'http', 'jobs', 'outbound'];
/** Files that assemble the service. They may import anything. */
const COMPOSITION = ['main.ts', 'serve.ts', 'compose.ts', 'routes.ts', 'context.ts', 'jobs/housekeeping.ts'];

type Layer = 'kernel' | 'chain' | 'operator' | 'feature' | 'composition';

function layerOf(path: string): Layer {
  if (COMPOSITION.includes(name(path))) return 'composition';
  const top = folder(path);
  if (top === '' || KERNEL_FOLDERS.includes(top)) return 'kernel';
  if (top === 'chain' || top === 'operator') return top;
  return 'feature';
}

const ORDER: Layer[] = ['kernel', 'chain', 'operator', 'feature', 'composition'];

const isStore = (path: string) => /(^|[/-])store\.ts$/.test(path);
const isEntry = (path: string) => /(^|\/)(routes|plugin)\.ts$|-command\.ts$/.test(path);

/**
 * Every import between two files of the service. Leaves out imports of `context.ts`, which contains only types and may
 * be imported by every file.
 */
const imports = service.flatMap(({ path, imports }) =>
  imports
    .filter(({ target }) => target.startsWith(SOURCE) && target !== `${SOURCE}context.ts`)
    .map(({ target, isType }) => ({ path, target, isType })),
);
const show = (found: { path: string; target: string }[]) =>
  found.map(({ path, target }) => `${name(path)} -> ${name(target)}`);

describe('imports', () => {
  test('the repository has no import cycles, type-only imports included', () => {
    expect(findCycles(production)).toEqual([]);
  });

  test('run from features to operator, chain and kernel', () => {
    // The configuration contains chains and keys, so it may import their types and tables.
    const allowed = ['chain/chains.ts', 'operator/key.ts', 'operator/role.ts', 'operator/sandbox-keys.ts'];
    const wrong = imports.filter(
      ({ path, target }) =>
        ORDER.indexOf(layerOf(path)) < ORDER.indexOf(layerOf(target)) &&
        !(isEntry(path) && name(target) === 'routes.ts') &&
        !(/^config[./]/.test(name(path)) && allowed.includes(name(target))),
    );
    expect(show(wrong)).toEqual([]);
  });

  test('run from routes to domain to store and provider', () => {
    // A store may import pure functions of its feature, such as a filter parser. A file that imports a store is not
    // pure.
    const impure = new Set(imports.filter(({ target }) => isStore(target)).map(({ path }) => path));
    const level = (path: string) =>
      isEntry(path) ? 3 : isStore(path) || /(^|\/)(provider|schema)\.ts$/.test(path) ? 1 : 2;
    const wrong = imports.filter(
      ({ path, target, isType }) =>
        !isType &&
        layerOf(path) === 'feature' &&
        layerOf(target) === 'feature' &&
        level(path) < level(target) &&
        (isEntry(target) || impure.has(target)),
    );
    expect(show(wrong)).toEqual([]);
  });

  test('a feature uses the domain functions of other features, not their stores', () => {
    const wrong = imports.filter(
      ({ path, target, isType }) =>
        !isType &&
        isStore(target) &&
        layerOf(target) !== 'kernel' &&
        folder(path) !== folder(target) &&
        layerOf(path) !== 'composition',
    );
    expect(show(wrong)).toEqual([]);
  });

  test('participations do not depend on settlement, except for the command that requests refunds', () => {
    const wrong = imports.filter(
      ({ path, target }) =>
        folder(path) === 'participations' && folder(target) === 'settlement' && !isEntry(path),
    );
    expect(show(wrong)).toEqual([]);
  });

  test('only serve.ts loads the sandbox, and the service does not use the SDK', () => {
    expect(matching(service, /@causeway\/sandbox/)).toEqual([`${SOURCE}serve.ts`]);
    expect(matching(service, /@causeway\/sdk|\/sdk\/src\//)).toEqual([]);
  });
});

describe('rules', () => {
  test('SQL is in stores and db/ only', () => {
    const sql =
      /\b(sql|fixedSql)(<[^`;]*>)?`|\.(selectFrom|insertInto|updateTable|deleteFrom)\(|\bpool\.query\(/;
    const wrong = matching(service, sql).filter((path) => !isStore(path) && folder(path) !== 'db');
    expect(wrong.map(name)).toEqual([]);
  });

  test('nothing notifies inside a transaction, because NOTIFY makes all commits wait for each other', () => {
    expect(matching(service, /pg_notify|`notify /i).map(name)).toEqual([
      'db/notify.ts',
      'db/session-check.ts',
    ]);
  });

  test('only config.ts reads the environment', () => {
    expect(matching(service, /process\.env\b(?!\.PATH)/).map(name)).toEqual(['config.ts']);
  });

  test('time comes from a clock', () => {
    const allowed = ['clock.ts', 'http/request-log.ts', 'serve.ts', 'accounts/interaction.ts'];
    const found = matching(service, /\bnew Date\(\)|Date\.now\(\)/).map(name);
    expect(found.filter((path) => !allowed.includes(path))).toEqual([]);
  });

  test('the only classes are errors', () => {
    const classes = production.flatMap(({ path, text }) =>
      [...text.matchAll(/^(?:export )?class (?!.* extends )\w+/gm)].map(([line]) => `${path}: ${line}`),
    );
    expect(classes).toEqual([]);
  });

  test('no file or folder is named after a catch-all', () => {
    const vague = /(^|\/)(utils?|helpers?|common|shared|lib|types)(\/|\.tsx?$)/;
    expect(tree.map(({ path }) => path).filter((path) => vague.test(path))).toEqual([]);
  });

  test('no source file is longer than 300 lines, and the median is below 110', () => {
    const lengths = production.map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }));
    expect(lengths.filter(({ lines }) => lines > 300)).toEqual([]);
    const sorted = lengths.map(({ lines }) => lines).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(110);
  });
});
