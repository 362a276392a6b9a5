import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Packages that are not bundled, because they have native parts, load files next to their code, or are rarely needed.
 * Everything else is bundled into a few files whenever the sources change. Otherwise, loading thousands of files
 * through a TypeScript loader would take up most of the startup time.
 */
const EXTERNAL =
  /^(@node-rs\/argon2|litesvm|@redis\/client|tiny-secp256k1|esbuild|pg-native|@scalar\/.*|pino-pretty|vite)($|\/)/;

const MAX_BUNDLE_AGE_MS = 7 * 24 * 3600_000;

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = [
  'service/src',
  'service/generate',
  'sandbox/src',
  'contracts/abi',
  'contracts/encodings',
  'demo/server',
  'sdk/src',
].map((folder) => join(root, folder));
const bundles = join(root, 'service', 'dist');
/** The bundle in a release. A release has no sandbox, and no sources to compare the bundle with. */
export const release = join(bundles, 'release');

/**
 * Returns the folder with `main.js`, `simulators.js` and `demo.js`, or with only `main.js` in a release. Normally,
 * `npm ci` has already built these files. If not, builds them now, for example after an installation without scripts or
 * a change to the sources.
 */
export async function bundle() {
  if (existsSync(release)) return release;
  const folder = join(bundles, fingerprint());
  if (existsSync(folder)) return folder;
  const draft = join(bundles, `draft-${process.pid}`);
  try {
    mkdirSync(draft, { recursive: true });
  } catch (error) {
    throw new Error(
      `the build is missing and cannot be written to ${bundles} (${error.code}); run "npm run build" where the folder is writable`,
    );
  }
  await build(
    {
      main: 'service/src/main.ts',
      simulators: 'sandbox/src/simulators/main.ts',
      demo: 'demo/server/main.ts',
    },
    draft,
  );
  removeOld();
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // If the folder exists, another process built the same sources first.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/**
 * Bundles one file into a separate folder, for benchmarks and for tests that start the bundle as a process many times.
 * Returns the bundle's path.
 */
export async function bundleFile(file) {
  const folder = join(bundles, `file-${process.pid}-${basename(file)}`);
  await build({ file }, folder, /^vitest$/);
  return join(folder, 'file.js');
}

/** Bundles the command line without the sandbox, into `service/dist/release` under `target`. */
export async function bundleRelease(target) {
  await build({ main: 'service/src/main.ts' }, join(target, 'service/dist/release'), /^@causeway\/sandbox\//);
}

async function build(entryPoints, outdir, alsoExternal = /^$/) {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    ...{ entryPoints, outdir },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // The engine keeps the text of every loaded file in memory, so the bundle has no white space. Names are kept for
    // stack traces, and because oidc-provider looks up lifetimes by its class names. `minifySyntax` is not used,
    // because it removes some names. `keepNames` would restore those names, but with an extra call for every function
    // that the code creates.
    minifyWhitespace: true,
    legalComments: 'linked',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'error',
    // Bundled CommonJS packages load Node's built-in modules with `require`.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    plugins: [{ name: 'causeway', setup: (build) => configureBuild(build, alsoExternal) }],
  });
}

function configureBuild(build, alsoExternal) {
  build.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
    kind === 'entry-point' || !(EXTERNAL.test(path) || alsoExternal.test(path))
      ? undefined
      : { path, external: true },
  );
  build.onLoad({ filter: /\/node_modules\/.*\.([cm]?js|json)$/ }, ({ path }) => ({
    contents: withFileNameOnly(path, readFileSync(path, 'utf8')),
    loader: 'js',
  }));
  // Makes `import.meta.url` point to the original source, so that the code finds the files next to that source. All
  // bundles are three folders below the root, so the path can be relative and a release can be moved.
  build.onLoad({ filter: /(service|sandbox|contracts|demo|sdk|bench)\/.*\.ts$/ }, ({ path }) => ({
    contents: escapeNonAscii(readFileSync(path, 'utf8')).replaceAll(
      'import.meta.url',
      `new URL(${JSON.stringify(`../../../${relative(root, path)}`)}, import.meta.url).href`,
    ),
    loader: 'ts',
  }));
}

/**
 * Escapes non-ASCII characters. If a file contains any, the engine uses two bytes for every character of the file.
 * esbuild also escapes non-ASCII characters, but not in tagged templates.
 */
function escapeNonAscii(text) {
  return text.replace(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Gives a package's file a source map that contains only the file's name. Node keeps all source maps in memory, and
 * exact line numbers are worth that cost only for our own code.
 */
function withFileNameOnly(path, text) {
  const map = { version: 3, sources: [basename(path)], names: [], mappings: 'AAAA' };
  return `${path.endsWith('.json') ? `module.exports = ${text}` : text}
//# sourceMappingURL=data:application/json;base64,${btoa(JSON.stringify(map))}`;
}

function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)));
  hash.update(readFileSync(join(root, 'package-lock.json')));
  for (const folder of sources) {
    for (const file of readdirSync(folder, { recursive: true }).sort()) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
      hash.update(file).update(readFileSync(join(folder, file)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** Removes bundles that are too old to still be in use. */
function removeOld() {
  for (const name of readdirSync(bundles)) {
    const folder = join(bundles, name);
    if (Date.now() - statSync(folder).mtimeMs > MAX_BUNDLE_AGE_MS)
      rmSync(folder, { recursive: true, force: true });
  }
}
