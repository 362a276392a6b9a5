import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { extractCommit, installPackages, VERSION_0_1 } from './earlier-version.ts';
import { MIN_ROUNDS } from './load.ts';
import { barOf, type Result } from './result.ts';
import { ratios } from './statistics.ts';

/**
 * Runs `npm ci` in copies of the last commit and of version 0.1, in turn. The time depends on the machine much more than
 * on the packages, so it is also compared with version 0.1. The first round only fills npm's cache and is not counted.
 * The copies (8 GB) are only removed at the end: on ext4, creating files takes three times the system time if as many
 * were deleted in the last minute.
 */
export async function run(): Promise<Result> {
  const ours: Installation[] = [];
  const former: Installation[] = [];
  const folders: string[] = [];
  const install = (commit: string) => {
    const folder = extractCommit(commit);
    folders.push(folder);
    return measureInstallation(folder);
  };
  try {
    for (let round = 0; round <= MIN_ROUNDS; round++) {
      const [first, second] = [install(VERSION_0_1), install('HEAD')];
      if (round === 0) continue;
      former.push(first);
      ours.push(second);
    }
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
  const secondsOf = (installations: Installation[]) => installations.map(({ seconds }) => seconds);
  return {
    name: 'npm ci on a warm cache',
    bars: [
      barOf('npm ci, s', secondsOf(ours), { max: 25, goal: 15 }),
      // Version 0.1 took 20 s when the limit of 25 s was set.
      barOf('npm ci relative to version 0.1', ratios(secondsOf(ours), secondsOf(former)), {
        max: 1.25,
        goal: 0.75,
      }),
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

function measureInstallation(folder: string): Installation {
  const startedAt = performance.now();
  installPackages(folder);
  const seconds = (performance.now() - startedAt) / 1000;
  const sizes = execFileSync('du', ['-sm', 'node_modules'], { cwd: folder, encoding: 'utf8' });
  return { seconds, megabytes: Number.parseInt(sizes, 10) };
}
