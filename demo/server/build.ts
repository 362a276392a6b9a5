import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const demo = fileURLToPath(new URL('..', import.meta.url));
const kept = join(demo, 'dist');
const sources = [join(demo, 'page'), join(demo, '..', 'sdk', 'src')];
const single = [join(demo, 'vite.config.ts'), join(demo, '..', 'package-lock.json')];
const WEEK = 7 * 24 * 3600_000;

/** The folder with the built page, made once per state of the sources. */
export async function buildPage(): Promise<string> {
  const folder = join(kept, fingerprint());
  if (existsSync(folder)) return folder;
  const { build } = await import('vite');
  const draft = join(kept, `draft-${process.pid}`);
  await build({
    configFile: join(demo, 'vite.config.ts'),
    logLevel: 'error',
    build: { outDir: draft, emptyOutDir: true },
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

function fingerprint(): string {
  const hash = createHash('sha256');
  for (const file of single) hash.update(readFileSync(file));
  for (const folder of sources) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (!/\.(tsx?|css|html|svg|json)$/.test(file) || /\.test\.tsx?$/.test(file)) continue;
      hash.update(file).update(readFileSync(join(folder, file)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** What nobody can still be serving from. */
function removeOld(): void {
  mkdirSync(kept, { recursive: true });
  for (const name of readdirSync(kept)) {
    const folder = join(kept, name);
    if (Date.now() - statSync(folder).mtimeMs > WEEK) rmSync(folder, { recursive: true, force: true });
  }
}
