import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MIN_ROUNDS } from './load.ts';
import { barOf, type Result } from './result.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs `npm ci` in copies of the last commit. The first run only fills npm's cache and is not counted. */
export async function run(): Promise<Result> {
  const seconds: number[] = [];
  const megabytes: number[] = [];
  for (let round = 0; round <= MIN_ROUNDS; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-install-'));
    try {
      execFileSync('sh', ['-c', 'git -C "$1" archive HEAD | tar -x -C "$2"', 'sh', ROOT, folder]);
      const startedAt = performance.now();
      execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
      if (round === 0) continue;
      seconds.push((performance.now() - startedAt) / 1000);
      const sizes = execFileSync('du', ['-sm', 'node_modules'], { cwd: folder, encoding: 'utf8' });
      megabytes.push(Number.parseInt(sizes, 10));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return {
    name: 'npm ci on a warm cache',
    bars: [
      barOf('npm ci, s', seconds, { max: 25, goal: 15 }),
      barOf('node_modules, MB', megabytes, { max: 722, goal: 500 }),
    ],
    figures: { seconds, megabytes },
  };
}
