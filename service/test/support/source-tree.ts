import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export type SourceFile = {
  /** The path relative to the repository, with slashes. */
  path: string;
  text: string;
  imports: Import[];
};

/** An import of another source file of the repository; `target` is that file's path. */
export type Import = { target: string; isType: boolean };

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PACKAGES = ['service', 'sandbox', 'contracts', 'sdk', 'demo', 'console', 'bench'];
const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', 'results', 'artifacts']);
const GENERATED = /^(contracts\/abi\/|sdk\/src\/wire\.ts$|service\/src\/platform\/db\/tables\.ts$)/;
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s(type\s)?(?:[^;'"]*?from\s)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g;

/** Reads every hand-written TypeScript file of the repository. */
export function readSourceTree(): SourceFile[] {
  const paths = PACKAGES.flatMap((name) => listFiles(name)).filter((path) => !GENERATED.test(path));
  const known = new Set(paths);
  return paths.map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return { path, text, imports: readImports(path, text, known) };
  });
}

function listFiles(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory())
      return SKIPPED_FOLDERS.has(entry.name) ? [] : listFiles(`${folder}/${entry.name}`);
    return /\.(ts|tsx|mjs)$/.test(entry.name) && !entry.name.endsWith('.d.ts')
      ? [`${folder}/${entry.name}`]
      : [];
  });
}

function readImports(path: string, text: string, known: ReadonlySet<string>): Import[] {
  return [...text.matchAll(IMPORT)].flatMap(([, type, named, dynamic]) => {
    const target = resolveImport(path, named ?? dynamic ?? '');
    return target !== undefined && known.has(target) ? [{ target, isType: type !== undefined }] : [];
  });
}

/** Maps a specifier to a path in the repository; undefined for packages from npm. */
function resolveImport(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(path), specifier));
  const match = /^@causeway\/([a-z]+)(?:\/(.+))?$/.exec(specifier);
  if (match === null) return undefined;
  const [, name, rest] = match;
  if (name === 'contracts') return `contracts/${rest}`;
  if (name === 'sdk') return rest === undefined ? 'sdk/src/index.ts' : `sdk/src/${rest}/index.ts`;
  return `${name}/src/${rest}`;
}

/** Returns the groups of files that form an import cycle. */
export function findCycles(files: readonly SourceFile[]): string[][] {
  const graph = new Map(files.map(({ path, imports }) => [path, imports.map(({ target }) => target)]));
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (path: string): void => {
    order.set(path, order.size);
    low.set(path, order.get(path) ?? 0);
    stack.push(path);
    for (const target of graph.get(path) ?? []) {
      if (!order.has(target)) {
        visit(target);
        low.set(path, Math.min(low.get(path) ?? 0, low.get(target) ?? 0));
      } else if (stack.includes(target)) low.set(path, Math.min(low.get(path) ?? 0, order.get(target) ?? 0));
    }
    if (low.get(path) !== order.get(path)) return;
    const group = stack.splice(stack.indexOf(path));
    if (group.length > 1) cycles.push(group);
  };
  for (const { path } of files) if (!order.has(path)) visit(path);
  return cycles;
}
