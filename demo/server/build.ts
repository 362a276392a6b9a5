import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const demo = fileURLToPath(new URL('..', import.meta.url));
const root = join(demo, '..');
const dist = join(demo, 'dist');
const sourceFolders = [join(demo, 'page'), join(root, 'sdk/src'), join(root, 'contracts/encodings')];
const sourceFiles = [join(demo, 'vite.config.ts'), join(root, 'package-lock.json')];
const MAX_BUILD_AGE_MS = 7 * 24 * 3600_000;

/** Builds the page, unless a build of the same sources exists, and returns the build's folder. */
export async function buildPage(): Promise<string> {
  const folder = join(dist, fingerprint());
  if (existsSync(folder)) return folder;
  const { build } = await import('vite');
  const draft = join(dist, `draft-${process.pid}`);
  await build({
    configFile: join(demo, 'vite.config.ts'),
    logLevel: 'error',
    build: { outDir: draft, emptyOutDir: true },
  });
  removeOldBuilds();
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // If another process has built the same sources in the meantime, uses that build.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function fingerprint(): string {
  const hash = createHash('sha256');
  for (const file of sourceFiles) hash.update(readFileSync(file));
  for (const folder of sourceFolders) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (!/\.(tsx?|css|html|svg|json)$/.test(file) || /\.test\.tsx?$/.test(file)) continue;
      hash.update(file).update(readFileSync(join(folder, file)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** Removes builds that are older than `MAX_BUILD_AGE_MS`. By then, no running server should still be using them. */
function removeOldBuilds(): void {
  mkdirSync(dist, { recursive: true });
  for (const name of readdirSync(dist)) {
    const folder = join(dist, name);
    const isOld = Date.now() - statSync(folder).mtimeMs > MAX_BUILD_AGE_MS;
    if (isOld) rmSync(folder, { recursive: true, force: true });
  }
}
