import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulators } from '@causeway/sandbox/simulators/start.ts';
import { compare, load, median, startTarget, type Target } from './load.ts';
import { previewPath, type ReadsInput, readFromNode } from './reads-targets.ts';
import type { Result } from './result.ts';

const DURATION_SECONDS = 10;
const COLD_READS = 200;
const BLOCK_INTERVAL_MS = 2_000;

/**
 * Compares plain viem, viem with multicall batching, and the service, while 64 clients poll 20 previews on a
 * chain that produces blocks.
 */
export async function run(): Promise<Result> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
  const simulators = await startSimulators({ dataDir, clock: { now_ms: Date.now(), running: true } });
  const stops = [simulators.stop];
  try {
    const [chain] = simulators.chains;
    const usdc = chain?.deployment.tokens[0];
    if (chain === undefined || usdc === undefined) throw new Error('the simulators have no chain');
    await simulators.control.call('chains/interval', { chain: chain.chain, milliseconds: BLOCK_INTERVAL_MS });
    const input = { rpcUrl: chain.rpc_url, swap: chain.deployment.fund_swap.address, token: usdc.address };
    const start = async (file: string, ...args: string[]) => {
      const { target, stop } = await startTarget(file, [JSON.stringify(input), ...args]);
      stops.unshift(stop);
      return target;
    };
    return await measure(input, {
      viem: await start('./reads-viem.ts'),
      viemMulticall: await start('./reads-viem.ts', 'multicall'),
      ours: await start('./reads-ours.ts'),
    });
  } finally {
    for (const stop of stops) await stop();
  }
}

type Targets = { viem: Target; viemMulticall: Target; ours: Target };

async function measure(input: ReadsInput, { viem, viemMulticall, ours }: Targets): Promise<Result> {
  const paths = Array.from({ length: 20 }, (_, index) => previewPath(input, BigInt(index + 1) * 1_000_000n));
  const targets = {
    viem: { ...viem, paths },
    viemMulticall: { ...viemMulticall, paths },
    ours: { ...ours, paths },
  };
  const figures = await compare(targets, { rounds: 3, seconds: DURATION_SECONDS });
  const before = await countSent(ours);
  const counted = await load(targets.ours, DURATION_SECONDS);
  const perRead = ((await countSent(ours)) - before) / (counted.requestsPerSecond * DURATION_SECONDS);
  const cold = await measureCold(input, ours);
  return {
    name: 'On-chain reads: 64 clients poll 20 previews',
    bars: [
      {
        label: 'throughput relative to viem per request',
        value: figures.ours.requestsPerSecond / figures.viem.requestsPerSecond,
        min: 7,
        goal: 10,
      },
      { label: 'RPC requests per served read', value: perRead, max: 0.02 },
      {
        label: 'milliseconds that an uncached read adds to the RPC call',
        value: cold.ours - cold.node,
        max: 2,
      },
    ],
    figures: { ...figures, coldMedianMs: cold },
  };
}

async function countSent({ url }: Target): Promise<number> {
  return ((await (await fetch(`${url}/sent`)).json()) as { sent: number }).sent;
}

/**
 * Alternates reads from the node and from the service. Each read has a new amount, so that no reply is
 * cached.
 */
async function measureCold(
  input: ReadsInput,
  { url, headers = {} }: Target,
): Promise<{ node: number; ours: number }> {
  const times = { node: [] as number[], ours: [] as number[] };
  for (let i = 0; i < COLD_READS; i++) {
    const amount = 10n ** 9n + BigInt(i);
    times.node.push(await timed(() => readFromNode(input, amount)));
    times.ours.push(
      await timed(async () => (await fetch(`${url}${previewPath(input, amount)}`, { headers })).json()),
    );
  }
  return { node: median(times.node), ours: median(times.ours) };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
