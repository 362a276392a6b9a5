import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const TOOLS = fileURLToPath(new URL('../tools', import.meta.url));
const INSTALL_TIMEOUT_MS = 8 * 60_000;
/** The folder for packages that are kept for the next run. */
export const PACKAGES = process.env.TEST_PACKAGES ?? join(tmpdir(), 'causeway-test-packages');

/**
 * Installs the packages of a workspace of `service/test/tools` from its lock file into a folder outside the repository,
 * and returns the folder. The folder is kept for the next run with the same lock file. Throws if npm fails, because a
 * skipped test would prove nothing.
 */
export async function installPackages(workspace: string): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(TOOLS, 'package-lock.json')));
  const folder = join(PACKAGES, `${workspace}-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  await mkdir(join(folder, '..'), { recursive: true });
  // Installs into a draft folder that is renamed at the end, so that a killed run does not leave an
  // incomplete folder.
  const draft = await mkdtemp(`${folder}-draft-`);
  await cp(TOOLS, draft, { recursive: true });
  await cp(join(TOOLS, '../../../.npmrc'), join(draft, '.npmrc'));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps', '--prefer-offline'];
  await promisify(execFile)('npm', ['ci', '--workspace', workspace, ...flags], {
    cwd: draft,
    env: envWithoutNpm(),
    timeout: INSTALL_TIMEOUT_MS,
  });
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }));
  return folder;
}

/**
 * Returns the environment without the npm settings that `npm test` and `npm run` pass on, because they belong to the
 * repository.
 */
export function envWithoutNpm(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !key.toLowerCase().startsWith('npm_')),
  );
}

/** Installs Debian packages. Returns why that is impossible here, or null on success. */
export function installDebianPackages(packages: readonly string[]): string | null {
  const isInstalled = () => spawnSync('/usr/bin/dpkg', ['-s', ...packages]).status === 0;
  if (isInstalled()) return null;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    return `needs ${packages.join(', ')}: run as root on Debian, or install them`;
  // `RUNLEVEL=1` keeps the packages from starting their services.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
    const { status, stderr } = spawnSync('apt-get', args, {
      env,
      encoding: 'utf8',
      timeout: INSTALL_TIMEOUT_MS,
    });
    if (status !== 0) return `apt-get ${args.join(' ')} failed: ${stderr}`;
  }
  return isInstalled() ? null : `apt-get did not install ${packages.join(', ')}`;
}

/**
 * Unpacks a Debian package into a folder outside the repository. Use this for packages that would start a server if
 * they were installed. Returns the folder, which is kept for the next run, or why the package could not be unpacked.
 */
export function extractDebianPackage(name: string): string | { problem: string } {
  const folder = join(PACKAGES, `debian-${name}`);
  if (existsSync(folder)) return folder;
  if (!existsSync('/usr/bin/apt-get')) return { problem: `needs the package ${name} of Debian` };
  mkdirSync(join(folder, '..'), { recursive: true });
  const draft = mkdtempSync(`${folder}-draft-`);
  const run = (command: string, ...args: string[]) =>
    spawnSync(command, args, { cwd: draft, encoding: 'utf8', timeout: INSTALL_TIMEOUT_MS });
  const download = () => run('apt-get', 'download', name);
  // The package list may be missing or outdated; only root can refresh it.
  let { status, stderr } = download();
  if (status !== 0 && run('apt-get', 'update').status === 0) ({ status, stderr } = download());
  const file = readdirSync(draft).find((each) => each.endsWith('.deb'));
  if (status !== 0 || file === undefined) {
    rmSync(draft, { recursive: true, force: true });
    return { problem: `apt-get download ${name} failed: ${stderr}` };
  }
  const unpacked = run('dpkg', '-x', file, 'unpacked');
  if (unpacked.status === 0) renameSync(join(draft, 'unpacked'), folder);
  rmSync(draft, { recursive: true, force: true });
  return existsSync(folder) ? folder : { problem: `dpkg -x ${file} failed: ${unpacked.stderr}` };
}
