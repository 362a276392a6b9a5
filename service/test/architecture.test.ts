import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findCycles, readSourceTree, type SourceFile } from './support/source-tree.ts';

const SOURCE = 'service/src/';
const tree = readSourceTree();
const production = tree.filter(({ path }) => !/\.test\.tsx?$/.test(path));
const service = production.filter(({ path }) => path.startsWith(SOURCE));

const name = (path: string) => path.slice(SOURCE.length);
const matching = (files: readonly SourceFile[], pattern: RegExp) =>
  files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

/** The folders of the service from top to bottom. A file imports from its own folder and from folders further down. */
const ORDER = [
  // Starts the service: `main.ts`, `serve.ts` and `compose.ts`.
  '',
  ...['edges/cli', 'edges/doctor', 'edges', 'edges/operations'],
  ...['domain/settlement', 'domain/offer-files', 'domain/screening', 'domain/erasure', 'domain/tokenized'],
  ...['domain/participations', 'domain/wallets', 'domain/acknowledgements', 'domain/accounts'],
  ...['domain/eligibility', 'domain/identity', 'domain/documents'],
  ...[
    'domain/requirements',
    'domain/proofs',
    'domain/holdings',
    'domain/notices',
    'domain/pii',
    'domain/oauth',
  ],
  ...['domain/webhooks', 'domain/offers', 'domain/users', 'domain/partners', 'domain/swaps'],
  ...[
    'platform/events',
    'platform/audit',
    'platform/mail',
    'platform/pages',
    'platform/http',
    'platform/jobs',
  ],
  ...['platform/context', 'platform/operator', 'platform/limits', 'platform/chain', 'platform/providers'],
  ...['platform/db', 'platform/outbound'],
  ...['kernel/config', 'kernel/model', 'kernel/places', 'kernel'],
];

/** Returns the folder of `ORDER` that the file belongs to. */
function folderOf(path: string): string {
  for (let folder = dirname(name(path)); ; folder = dirname(folder)) {
    if (folder === '.') return '';
    if (ORDER.includes(folder)) return folder;
  }
}

const isStore = (path: string) => /(^|[/-])store\.ts$/.test(path);
const isEntry = (path: string) => /(^|\/)(routes|plugin)\.ts$|-command\.ts$/.test(path);

/** Every import between two files of the service. */
const imports = service.flatMap(({ path, imports }) =>
  imports
    .filter(({ target }) => target.startsWith(SOURCE))
    .map(({ target, isType }) => ({ path, target, isType })),
);
const show = (found: { path: string; target: string }[]) =>
  found.map(({ path, target }) => `${name(path)} -> ${name(target)}`);

describe('imports', () => {
  test('the repository has no import cycles, type-only imports included', () => {
    expect(findCycles(production)).toEqual([]);
  });

  test('run down the storeys and their folders, type-only imports included', () => {
    const wrong = imports.filter(
      ({ path, target }) => ORDER.indexOf(folderOf(target)) < ORDER.indexOf(folderOf(path)),
    );
    expect(show(wrong)).toEqual([]);
  });

  test('every folder of the service has its place in the order', () => {
    const folders = new Set(service.map(({ path }) => folderOf(path)));
    expect(ORDER.filter((folder) => !folders.has(folder))).toEqual([]);
    const strays = service.filter(({ path }) => folderOf(path) === '').map(({ path }) => name(path));
    expect(strays.sort()).toEqual(['compose.ts', 'main.ts', 'serve.ts']);
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
        name(path).startsWith('domain/') &&
        name(target).startsWith('domain/') &&
        level(path) < level(target) &&
        (isEntry(target) || impure.has(target)),
    );
    expect(show(wrong)).toEqual([]);
  });

  test('only two files load the sandbox, and the service does not use the SDK', () => {
    const loaders = ['edges/sandbox-database.ts', 'serve.ts'];
    expect(matching(service, /@causeway\/sandbox/).map(name)).toEqual(loaders);
    expect(matching(service, /@causeway\/sdk|\/sdk\/src\//)).toEqual([]);
  });
});

describe('rules', () => {
  test('SQL is in stores and platform/db only', () => {
    const sql = /\bsql(<[^`;]*>)?`|\.(selectFrom|insertInto|updateTable|deleteFrom)\(|\bpool\.query\(/;
    const wrong = matching(service, sql).filter((path) => !isStore(path) && folderOf(path) !== 'platform/db');
    expect(wrong.map(name)).toEqual([]);
  });

  test('nothing notifies inside a transaction, because NOTIFY makes all commits wait for each other', () => {
    expect(matching(service, /pg_notify|`notify /i).map(name)).toEqual([
      'platform/db/notify.ts',
      'platform/db/session-check.ts',
    ]);
  });

  test('only config.ts reads the environment', () => {
    expect(matching(service, /process\.env\b(?!\.PATH)/).map(name)).toEqual(['kernel/config/config.ts']);
  });

  test('time comes from a clock', () => {
    const allowed = ['kernel/clock.ts', 'serve.ts', 'domain/accounts/interaction.ts'];
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

  test('no source file is longer than 500 lines', () => {
    const lengths = production.map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }));
    expect(lengths.filter(({ lines }) => lines > 500)).toEqual([]);
  });
});
