import { chmod, cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chooseServerUser, findPackage, locateBinaries, parsePasswd } from './binaries.ts';

let root: string;
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'causeway-binaries-'));
  await chmod(root, 0o700);
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await rm(root, { recursive: true, force: true });
});

test('binaries that cannot be linked or reached in the package run from a copy', async () => {
  const native = join(root, 'package/native');
  await cp(findPackage(), native, { recursive: true });
  for (const entry of await readdir(join(native, 'lib'), { withFileTypes: true }))
    if (entry.isSymbolicLink()) await rm(join(native, 'lib', entry.name));
  // Linking fails in a read-only folder. As root it succeeds, but the server runs as another user, who cannot enter
  // the parent folder. Either way a copy is needed.
  await chmod(join(native, 'lib'), 0o500);
  cleanups.push(() => chmod(join(native, 'lib'), 0o700));
  const folder = await mkdtemp(join(tmpdir(), 'causeway-copy-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);

  const user = await chooseServerUser(join(root, 'none'));
  const options = { user, native, copyTo: [join(folder, 'copies')] };
  const [one, two] = await Promise.all([locateBinaries(options), locateBinaries(options)]);
  expect(one).toBe(two);
  expect(one.startsWith(folder)).toBe(true);

  await writeFile(join(one, 'postgres'), 'truncated by a power failure');
  expect(await locateBinaries(options)).toBe(one);
  expect((await stat(join(one, 'postgres'))).size).toBeGreaterThan(1_000_000);
});

test('a folder that others can write to is not used for a copy', async () => {
  const folder = join(root, 'shared');
  await mkdir(folder);
  await chmod(folder, 0o777);
  const native = join(root, 'package/native');
  await cp(findPackage(), native, { recursive: true });
  await chmod(join(native, 'bin/postgres'), 0o000);
  const options = { user: undefined, native, copyTo: [folder] };
  await expect(locateBinaries(options)).rejects.toThrow(/DATABASE_URL.*writable by nobody else/s);
  expect(await readdir(folder)).toEqual([]);
});

test('a platform without binaries gets an error that names DATABASE_URL', () => {
  expect(() => findPackage('sunos', 'sparc')).toThrow(
    /no embedded PostgreSQL for sunos on sparc.*DATABASE_URL/,
  );
});

test('parses the passwd format of macOS', () => {
  const users = parsePasswd(
    '##\n# User Database\nnobody:*:-2:-2:Unprivileged User:/var/empty:/usr/bin/false\nbroken\n',
  );
  expect(users).toEqual(new Map([['nobody', { uid: -2, gid: -2 }]]));
});
