/**
 * Builds the published package into `dist`, or into the directory given as the first argument. The package has ES
 * modules and CommonJS modules, with declarations for each. Every module is a separate file, so that bundlers can drop
 * unused modules. The entry points are the `exports` in package.json.
 *
 * The sources import `@causeway/contracts/encodings/*`, which is not published. The build therefore compiles a staged
 * copy that has the encodings inside the package and imports them by relative path.
 */
import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const out = resolve(process.argv[2] ?? join(here, 'dist'));
const source = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'));
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const COMMONJS = ['--module', 'commonjs', '--moduleResolution', 'bundler', '--verbatimModuleSyntax', 'false'];

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const staging = await stageSources();
try {
  compile('esm', []);
  compile('cjs', COMMONJS);
} finally {
  await rm(staging, { recursive: true, force: true });
}
for (const format of ['esm', 'cjs']) await finishOutput(format);
await shareImports(join(out, 'esm/react'), ['react', 'react/jsx-runtime']);
await writeFile(join(out, 'styles.css'), await inlineImports(join(here, 'src/react/styles.css')));
await cp(join(here, 'README.md'), join(out, 'README.md'));
await cp(join(root, 'LICENSE'), join(out, 'LICENSE'));
await writeJson(join(out, 'cjs/package.json'), { type: 'commonjs' });
await writeJson(join(out, 'package.json'), publishedManifest());
console.log(`Built @causeway/sdk ${source.version} in ${relative(process.cwd(), out) || '.'}`);

/** Copies the sources into a folder inside the repository, so that the compiler finds viem and React. */
async function stageSources() {
  await mkdir(join(root, 'artifacts'), { recursive: true });
  const folder = await mkdtemp(join(root, 'artifacts/sdk-build-'));
  const src = join(folder, 'src');
  await cp(join(here, 'src'), src, { recursive: true, filter: (path) => !/\.test\.tsx?$/.test(path) });
  await cp(join(root, 'contracts/encodings'), join(src, 'encodings'), {
    recursive: true,
    filter: (path) => !/\.test\.ts$/.test(path),
  });
  for (const name of await readdir(src, { recursive: true }))
    if (/\.tsx?$/.test(name)) await rewriteFile(join(src, name), (text) => useStagedEncodings(text, name));
  await writeJson(join(folder, 'package.json'), { type: 'module' });
  await writeJson(join(folder, 'tsconfig.json'), {
    extends: join(here, 'tsconfig.build.json'),
    compilerOptions: { rootDir: src },
    include: [src],
  });
  return folder;
}

function useStagedEncodings(text, name) {
  const up = relative(dirname(name), '.') || '.';
  return text.replaceAll("'@causeway/contracts/encodings/", `'${up}/encodings/`);
}

function compile(format, options) {
  const target = ['--outDir', join(out, format), '--tsBuildInfoFile', 'null'];
  execFileSync(process.execPath, [compiler, '-p', staging, ...target, ...options], { stdio: 'inherit' });
}

async function finishOutput(format) {
  for (const name of await readdir(join(out, format), { recursive: true })) {
    const file = join(out, format, name);
    if (name.endsWith('.d.ts')) await rewriteFile(file, importCompiledModules);
    else if (name.endsWith('.js')) await rewriteFile(file, putClientDirectiveFirst);
  }
}

/** Replaces `.ts` with `.js` in the imports of declaration files. The compiler leaves those imports unchanged. */
function importCompiledModules(text) {
  return text.replace(/(\bfrom |\bimport\()(['"])(\.{1,2}\/[^'"]+)\.tsx?\2/g, '$1$2$3.js$2');
}

/**
 * Moves `'use client'` to the top. The compiler puts `'use strict'` before it, which makes some bundlers
 * ignore `'use client'`.
 */
function putClientDirectiveFirst(text) {
  return text.replace(/^(['"]use strict['"];)\s*(['"]use client['"];)/, '$2\n$1');
}

/**
 * Makes all modules in a folder import each package through one shared module. Otherwise a hundred modules could add a
 * hundred imports to the page, because bundlers may repeat every import of an external or CommonJS package such as
 * React.
 */
async function shareImports(folder, packages) {
  const modules = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.js'));
  for (const name of packages) {
    const shared = `imports/${name.replace('/', '-')}.js`;
    const imported = new Set();
    for (const module of modules)
      await rewriteFile(join(folder, module), (text) =>
        text.replace(new RegExp(`^import \\{([^}]*)\\} from (['"])${name}\\2;`, 'gm'), (_, names) => {
          for (const one of names.split(',')) imported.add(one.trim().split(' ')[0]);
          const path = relative(dirname(module), shared);
          return `import {${names}} from '${path.startsWith('.') ? path : `./${path}`}';`;
        }),
      );
    await mkdir(join(folder, 'imports'), { recursive: true });
    await writeFile(join(folder, shared), `export { ${[...imported].sort().join(', ')} } from '${name}';\n`);
  }
}

async function rewriteFile(file, change) {
  const text = await readFile(file, 'utf8');
  const changed = change(text);
  if (changed !== text) await writeFile(file, changed);
}

function publishedManifest() {
  const { private: _private, scripts: _scripts, devDependencies: _dev, exports: entries, ...kept } = source;
  return {
    ...kept,
    main: './cjs/index.js',
    module: './esm/index.js',
    types: './cjs/index.d.ts',
    exports: {
      ...Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, entryOf(path)])),
      './package.json': './package.json',
    },
    typesVersions: { '*': typesOfEntries(entries) },
    files: ['esm', 'cjs', 'styles.css'],
  };
}

/** Maps each entry point to its declarations, for resolvers that ignore `exports` (TypeScript's `node10`). */
function typesOfEntries(entries) {
  const modules = Object.entries(entries).filter(([name, path]) => name !== '.' && !path.endsWith('.css'));
  return Object.fromEntries(
    modules.map(([name, path]) => [
      name.slice(2),
      [path.replace('./src/', './cjs/').replace(/\.tsx?$/, '.d.ts')],
    ]),
  );
}

/** Puts `types` before `default`: resolvers take the first condition that matches. */
function entryOf(path) {
  if (path.endsWith('.css')) return './styles.css';
  const module = path.replace('./src/', '').replace(/\.tsx?$/, '');
  const kind = (format) => ({
    types: `./${format}/${module}.d.ts`,
    default: `./${format}/${module}.js`,
  });
  return { import: kind('esm'), require: kind('cjs') };
}

/** Returns the stylesheets that `file` imports, concatenated. */
async function inlineImports(file) {
  const paths = [...(await readFile(file, 'utf8')).matchAll(/@import "(.+)";/g)].map(([, path]) => path);
  return (await Promise.all(paths.map((path) => readFile(join(dirname(file), path), 'utf8')))).join('\n');
}

async function writeJson(file, value) {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}
