import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { envWithoutNpm } from '../../service/test/support/packages.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The last commit of version 0.1. A shallow clone lacks it. */
export const VERSION_0_1 = '95dc6382';

/** Writes the files of a commit to a new folder, which the caller must remove. Returns the folder's path. */
export function extractCommit(commit: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-commit-'));
  const extract = 'git -C "$1" archive "$3" | tar -x -C "$2"';
  execFileSync('bash', ['-o', 'pipefail', '-c', extract, 'bash', ROOT, folder, commit]);
  return folder;
}

/** Installs the packages of an extracted commit. */
export function installPackages(folder: string): void {
  execFileSync('npm', ['ci'], { cwd: folder, env: envWithoutNpm(), stdio: 'ignore' });
}
