import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * An example from the documentation. All examples are compiled. `ts` examples are also run, and the functions that they
 * export are called with the test's arguments. `tsx` is for browser code, and `ts no-run` for code that must not run in a
 * test.
 */
export type Example = { of: string; language: 'ts' | 'tsx'; isRun: boolean; code: string };

const sdk = fileURLToPath(new URL('..', import.meta.url));

/** Returns the source file of each published entry point, keyed by import name. */
export async function entryPoints(): Promise<Map<string, string>> {
  const { exports } = JSON.parse(await readFile(join(sdk, 'package.json'), 'utf8')) as {
    exports: Record<string, string>;
  };
  const entries = Object.entries(exports).filter(([, path]) => !/\.css$|\*/.test(path));
  return new Map(entries.map(([name, path]) => [`@causeway/sdk${name.slice(1)}`, join(sdk, path)]));
}

/** Returns the names of an entry point's exported values, each with the examples in its doc comment. */
export async function documentedExports(file: string): Promise<Map<string, Example[]>> {
  const names = Object.keys((await import(/* @vite-ignore */ file)) as object).sort();
  const text = await readFile(file, 'utf8');
  const origins = new Map<string, { original: string; from: string }>();
  for (const [, list = '', from = ''] of text.matchAll(/export \{([^}]*)\} from '([^']+)'/g))
    for (const item of list.split(',').map((text) => text.trim())) {
      const [original = '', name = original] = item.split(' as ');
      if (!item.startsWith('type ')) origins.set(name, { original, from: resolveFile(file, from) });
    }
  const found = await Promise.all(
    names.map(async (name): Promise<[string, Example[]]> => {
      const { original, from } = origins.get(name) ?? { original: name, from: file };
      const comment = commentOf(await readFile(from, 'utf8'), original);
      return [name, examplesIn(comment, name)];
    }),
  );
  return new Map(found);
}

function resolveFile(importer: string, target: string): string {
  return target.startsWith('.')
    ? join(dirname(importer), target)
    : fileURLToPath(import.meta.resolve(target));
}

function commentOf(source: string, name: string): string {
  const declared = `export (?:async )?(?:function\\*?|const|class) ${name.replace('$', '\\$')}\\b`;
  const found = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*${declared}`).exec(source)?.[1] ?? '';
  return found.replace(/^ *\* ?/gm, '');
}

export function examplesIn(markdown: string, of: string): Example[] {
  return [...markdown.matchAll(/^```(tsx?)( no-run)?\n([\s\S]*?)^```/gm)].map(
    ([, language, no, code = '']) => ({
      ...{ of, code, language: language as Example['language'] },
      isRun: language === 'ts' && no === undefined,
    }),
  );
}

/** If an example has no imports, adds imports for the names in `exported` that the example uses. */
export function addImports(example: Example, exported: ReadonlyMap<string, string>): Example {
  const { code } = example;
  if (/^import /m.test(code)) return example;
  const used = [...exported].filter(([name]) =>
    new RegExp(`\\b${name}\\b`).test(code.replace(/(^|\s)\/\/ .*$/gm, '')),
  );
  const lines = used.map(([name, entry]) => `import { ${name} } from '${entry}';\n`);
  return { ...example, code: lines.join('') + code };
}
