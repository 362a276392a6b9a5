/**
 * Makes what is published, in `dist` or the folder given: ES modules and CommonJS with types for each, file by file, so
 * that a bundler takes only what is used. The entry points are those of package.json, whose `exports` name the sources.
 */
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, 'dist'));
const source = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'));
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const COMMONJS = ['--module', 'commonjs', '--moduleResolution', 'bundler', '--verbatimModuleSyntax', 'false'];

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
compile('esm', []);
compile('cjs', COMMONJS);
for (const folder of ['esm', 'cjs']) await finish(folder);
await cp(join(here, 'src/react/styles.css'), join(out, 'styles.css'));
await cp(join(here, 'README.md'), join(out, 'README.md'));
await cp(join(here, '../LICENSE'), join(out, 'LICENSE'));
await writeJson('cjs/package.json', { type: 'commonjs' });
await writeJson('package.json', published());
console.log(`@causeway/sdk ${source.version} is in ${relative(process.cwd(), out) || '.'}`);

function compile(folder, more) {
  const target = ['--outDir', join(out, folder), '--tsBuildInfoFile', 'null'];
  execFileSync(process.execPath, [compiler, '-p', join(here, 'tsconfig.build.json'), ...target, ...more], {
    stdio: 'inherit',
  });
}

async function finish(folder) {
  for (const name of await readdir(join(out, folder), { recursive: true })) {
    const file = join(out, folder, name);
    if (name.endsWith('.d.ts')) await rewrite(file, pointAtModules);
    else if (name.endsWith('.js')) await rewrite(file, putDirectiveFirst);
  }
}

/** The compiler leaves the names of the sources in declarations. */
function pointAtModules(text) {
  return text.replace(/(\bfrom |\bimport\()(['"])(\.{1,2}\/[^'"]+)\.tsx?\2/g, '$1$2$3.js$2');
}

/** Where the compiler puts `'use strict'` before it, some tools would not see `'use client'`. */
function putDirectiveFirst(text) {
  return text.replace(/^(['"]use strict['"];)\s*(['"]use client['"];)/, '$2\n$1');
}

async function rewrite(file, change) {
  const text = await readFile(file, 'utf8');
  const changed = change(text);
  if (changed !== text) await writeFile(file, changed);
}

function published() {
  const { private: _private, scripts: _scripts, devDependencies: _dev, exports: entries, ...kept } = source;
  return {
    ...kept,
    main: './cjs/index.js',
    module: './esm/index.js',
    types: './cjs/index.d.ts',
    exports: {
      ...Object.fromEntries(
        // Those with a pattern are for the other packages of this repository.
        Object.entries(entries).flatMap(([name, path]) =>
          name.includes('*') ? [] : [[name, entryOf(path)]],
        ),
      ),
      './package.json': './package.json',
    },
    files: ['esm', 'cjs', 'styles.css'],
  };
}

/** Types come first: whoever reads the conditions in order must meet them before the code. */
function entryOf(path) {
  if (path.endsWith('.css')) return './styles.css';
  const module = path.replace('./src/', '').replace(/\.tsx?$/, '');
  const kind = (folder) => ({
    types: `./${folder}/${module}.d.ts`,
    default: `./${folder}/${module}.js`,
  });
  return { import: kind('esm'), require: kind('cjs') };
}

async function writeJson(name, value) {
  await writeFile(join(out, name), `${JSON.stringify(value, null, 2)}\n`);
}
