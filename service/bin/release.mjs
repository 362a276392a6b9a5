import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleRelease } from './bundle.mjs';

// Builds the npm package in the given folder: the bundled service, its files, and a lock file that pins the few
// unbundled packages. In that folder, `npm ci` installs those packages, and `npm publish` publishes the npm package.
const root = fileURLToPath(new URL('../..', import.meta.url));
const target = process.argv[2];
if (target === undefined) {
  console.error('usage: node service/bin/release.mjs FOLDER');
  process.exit(2);
}

/** The packages that the bundle loads at run time. */
const RUNTIME = [
  '@node-rs/argon2',
  '@redis/client',
  '@scalar/fastify-api-reference',
  'pino-pretty',
  'tiny-secp256k1',
];

const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const { version, license, description, engines } = readJson('package.json');
const { dependencies } = readJson('service/package.json');
const manifest = {
  ...{ name: '@causeway/service', version, license, description, engines, type: 'module' },
  bin: { causeway: 'service/bin/causeway.mjs' },
  dependencies: Object.fromEntries(RUNTIME.map((name) => [name, dependencies[name]])),
};

/** Returns the part of the lock file that the runtime packages need. */
function lockRuntime() {
  const { lockfileVersion, packages } = readJson('package-lock.json');
  const { name, bin } = manifest;
  const kept = { '': { name, version, license, bin, engines, dependencies: manifest.dependencies } };
  const visit = (from, dependency, isOptional) => {
    for (let folder = from; ; folder = folder.replace(/\/?node_modules\/(?:@[^/]+\/)?[^/]+$/, '')) {
      const path = `${folder}${folder === '' ? '' : '/'}node_modules/${dependency}`;
      if (packages[path] !== undefined) return keep(path, isOptional);
      if (folder === '') break;
    }
    if (!isOptional) throw new Error(`${dependency} is not in package-lock.json`);
  };
  const keep = (path, isOptional) => {
    if (kept[path] !== undefined) return;
    // Without the address: only this repository's `.npmrc` makes npm replace its host.
    const { dev, devOptional, optional, resolved, ...entry } = packages[path];
    kept[path] = isOptional ? { ...entry, optional: true } : entry;
    for (const each of Object.keys(entry.dependencies ?? {})) visit(path, each, isOptional);
    for (const each of Object.keys(entry.optionalDependencies ?? {})) visit(path, each, true);
  };
  for (const each of RUNTIME) visit('', each, false);
  return { name, version, lockfileVersion, requires: true, packages: kept };
}

/** Returns whether a file under `service/src` must be copied. Code is already in the bundle. */
const isAsset = (path) => !/\.(ts|tsx)$/.test(path);

mkdirSync(target, { recursive: true });
for (const path of [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'docs',
  'openapi.json',
  'service/bin/causeway.mjs',
  'service/bin/bundle.mjs',
])
  cpSync(join(root, path), join(target, path), { recursive: true });
cpSync(join(root, 'service/src'), join(target, 'service/src'), { recursive: true, filter: isAsset });
writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
writeFileSync(join(target, 'npm-shrinkwrap.json'), `${JSON.stringify(lockRuntime(), null, 2)}\n`);
await bundleRelease(target);
