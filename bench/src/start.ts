import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@causeway/service/http/free-port.ts';
import { startService } from '../../service/test/support/service.ts';
import { readCpuMs } from './cpu.ts';
import { MIN_ROUNDS } from './load.ts';
import { barOf, type Result } from './result.ts';
import { median } from './statistics.ts';

type Start = { seconds: number; cpuSeconds: number };

/**
 * Measures the time from `causeway serve` until a sandbox without the demo app prints that it is ready. The first start
 * uses an empty folder. The second start uses the same folder and port, like a restart. The CPU time includes the
 * database and the simulators.
 */
export async function run(): Promise<Result> {
  const first: Start[] = [];
  const again: Start[] = [];
  // The first round is a warm-up: it builds the bundle if necessary, and fills the system's file cache.
  for (let round = 0; round <= MIN_ROUNDS; round++) {
    const dataDir = mkdtempSync(join(tmpdir(), 'causeway-bench-start-'));
    try {
      // Both starts use the same port. Offers contain URLs with the port, so a second start on another port would
      // apply all offers again.
      const port = await freePort();
      const starts = [await measureStart(dataDir, port), await measureStart(dataDir, port)] as const;
      if (round === 0) continue;
      first.push(starts[0]);
      again.push(starts[1]);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
  const of = (starts: Start[], part: keyof Start) => starts.map((start) => start[part]);
  const row = (starts: Start[]) => ({
    ...{ seconds: median(of(starts, 'seconds')), cpuSeconds: median(of(starts, 'cpuSeconds')) },
    rounds: starts,
  });
  return {
    name: 'Start to ready',
    bars: [
      barOf('first start, s', of(first, 'seconds'), { max: 6, goal: 4 }),
      barOf('second start, s', of(again, 'seconds'), { max: 3, goal: 2 }),
    ],
    figures: { first: row(first), again: row(again) },
  };
}

async function measureStart(dataDir: string, port: number): Promise<Start> {
  const startedAt = performance.now();
  const service = await startService({ CAUSEWAY_DATA: dataDir, PORT: String(port) });
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuSeconds = (readCpuMs(Number(service.child.pid)) ?? Number.NaN) / 1000;
  await service.stop();
  return { seconds, cpuSeconds };
}
