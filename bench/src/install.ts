import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MIN_ROUNDS } from './load.ts';
import { barOf, type Result } from './result.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The last commit of version 0.1. A shallow clone lacks it. */
const VERSION_0_1 = '95dc6382';

/**
 * Runs `npm ci` in copies of the last commit and of version 0.1, in turn. The time depends on the machine much more than
 * on the packages, so it is also compared with version 0.1. The first round only fills npm's cache and is not counted.
 */
export async function run(): Promise<Result> {
  const ours: Installation[] = [];
  const former: Installation[] = [];
  for (let round = 0; round <= MIN_ROUNDS; round++) {
    const [first, second] = [install(VERSION_0_1), install('HEAD')];
    if (round === 0) continue;
    former.push(first);
    ours.push(second);
  }
  const secondsOf = (installations: Installation[]) => installations.map(({ seconds }) => seconds);
  const ratios = ours.map(({ seconds }, index) => seconds / (former[index]?.seconds ?? Number.NaN));
  return {
    name: 'npm ci on a warm cache',
    bars: [
      barOf('npm ci, s', secondsOf(ours), { max: 25, goal: 15 }),
      // Version 0.1 took 20 s when the limit of 25 s was set.
      barOf('npm ci relative to version 0.1', ratios, { max: 1.25, goal: 0.75 }),
      barOf(
        'node_modules, MB',
        ours.map(({ megabytes }) => megabytes),
        { max: 722, goal: 500 },
      ),
    ],
    figures: { 'this version': { ...ours }, 'version 0.1': { ...former } },
  };
}

type Installation = { seconds: number; megabytes: number };

function install(commit: string): Installation {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-install-'));
  try {
    const extract = 'git -C "$1" archive "$3" | tar -x -C "$2"';
    execFileSync('bash', ['-o', 'pipefail', '-c', extract, 'bash', ROOT, folder, commit]);
    const startedAt = performance.now();
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
    const seconds = (performance.now() - startedAt) / 1000;
    const sizes = execFileSync('du', ['-sm', 'node_modules'], { cwd: folder, encoding: 'utf8' });
    return { seconds, megabytes: Number.parseInt(sizes, 10) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
