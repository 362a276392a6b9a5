import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Our sources and the packages they use in a few files, made once per state of the sources: loading thousands
 * of files through a TypeScript loader takes longer than everything else at start. Packages with native parts,
 * with files of their own beside the code, or that are seldom needed stay as they are.
 */
const APART =
  /^(@node-rs\/argon2|@nomicfoundation\/edr|tiny-secp256k1|esbuild|pg-native|graphile-worker|@scalar\/.*|pino-pretty|vite)($|\/)/;

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = [
  'service/src',
  'sandbox/src',
  'contracts/abi',
  'contracts/encodings',
  'demo/server',
  'sdk/src',
].map((folder) => join(root, folder));
const kept = join(root, 'service', 'dist');

/** The folder with `main.js`, `simulators.js` and `demo.js`; built when it is missing. */
export async function bundle() {
  const folder = join(kept, fingerprint());
  if (existsSync(folder)) return folder;
  const { build } = await import('esbuild');
  const draft = join(kept, `draft-${process.pid}`);
  await build({
    absWorkingDir: root,
    entryPoints: {
      main: 'service/src/main.ts',
      simulators: 'sandbox/src/simulators/main.ts',
      demo: 'demo/server/main.ts',
    },
    outdir: draft,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'error',
    // What is CommonJS among the packages asks for Node's own modules this way.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    plugins: [{ name: 'causeway', setup: decide }],
  });
  removeOld();
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process was quicker with the same sources.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function decide(build) {
  build.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
    kind === 'entry-point' || !APART.test(path) ? undefined : { path, external: true },
  );
  // A file that looks for its neighbours must find them where it was written.
  build.onLoad({ filter: /(service|sandbox|contracts|demo|sdk)\/.*\.ts$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replaceAll(
      'import.meta.url',
      JSON.stringify(pathToFileURL(path).href),
    ),
    loader: 'ts',
  }));
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

/** What nobody can still be running from. */
function removeOld() {
  mkdirSync(kept, { recursive: true });
  for (const name of readdirSync(kept)) {
    const folder = join(kept, name);
    if (Date.now() - statSync(folder).mtimeMs > 7 * 24 * 3600_000)
      rmSync(folder, { recursive: true, force: true });
  }
}
