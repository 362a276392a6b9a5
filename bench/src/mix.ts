import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulators } from '@causeway/sandbox/simulators/start.ts';
import { readCpuTime } from './cpu.ts';
import { startTarget } from './target.ts';
import { type Mix, pickFrom, type TimedLoad, timedLoad } from './timed-load.ts';

/** `cpuMicros` is the CPU time of the service. `databaseCpuMicros` is the CPU time of its database. */
export type MeasuredLoad = TimedLoad & { cpuMicros: number; databaseCpuMicros: number };

type Load = Parameters<typeof timedLoad>[2];

/**
 * Starts the service and the simulated providers. The returned `measure` sends the mix of requests to the service. If
 * `collectorUrl` is given, the service traces 1% of the requests and sends the traces to that URL.
 */
export async function startMix({ core, collectorUrl }: { core?: number; collectorUrl?: string } = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-bench-simulators-'));
  const simulators = await startSimulators({ dataDir, clock: { now_ms: Date.now(), running: true } });
  await simulators.control.call('venue/set', { session: 'regular' });
  const outside = JSON.stringify({ venue: simulators.venue, chains: simulators.chains });
  const { target, pid, stop } = await startTarget<{ url: string; mix: Mix }>(
    './mix-target.ts',
    [outside, ...(collectorUrl === undefined ? [] : [collectorUrl])],
    core,
  );
  const next = pickFrom(target.mix);
  const readCpu = async () => {
    const { micros } = (await (await fetch(`${target.url}/cpu`)).json()) as { micros: number };
    return micros;
  };
  const readDatabaseCpuMs = () => readCpuTime(pid)?.descendantsMs ?? Number.NaN;
  return {
    /**
     * Applies the load. Returns the measurements and the CPU time that the service and its database used. Throws if the
     * single-use requests run out: cheaper requests would replace them, and the load would be lighter than in earlier
     * rounds.
     */
    measure: async (load: Load): Promise<MeasuredLoad> => {
      const before = await readCpu();
      const databaseBefore = readDatabaseCpuMs();
      const measured = await timedLoad(target.url, next, load);
      if (measured.substituted > 0)
        throw new Error(`single-use requests ran out (${measured.substituted} replaced); seed more users`);
      const databaseCpuMicros = (readDatabaseCpuMs() - databaseBefore) * 1000;
      return { ...measured, cpuMicros: (await readCpu()) - before, databaseCpuMicros };
    },
    stop: async () => {
      await stop();
      await simulators.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
