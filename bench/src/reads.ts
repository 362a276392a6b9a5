import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulators } from '@causeway/sandbox/simulators/start.ts';
import { compare, load, throughputBar } from './load.ts';
import { previewPath, type ReadsInput, readFromNode } from './reads-targets.ts';
import type { Result } from './result.ts';
import { median } from './statistics.ts';
import { type Started, startTarget, type Target } from './target.ts';

const ROUND_SECONDS = 6;
const COUNTED_SECONDS = 10;
const COLD_READS = 200;
const BLOCK_INTERVAL_MS = 2_000;

/**
 * Compares three ways to read from a chain that keeps producing blocks: plain viem, viem with multicall batching, and
 * the service. In each, 64 clients poll 20 previews of swaps.
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
      const started = await startTarget(file, [JSON.stringify(input), ...args]);
      stops.unshift(started.stop);
      return started;
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

type Targets = Record<'viem' | 'viemMulticall' | 'ours', Started>;

async function measure(input: ReadsInput, { viem, viemMulticall, ours }: Targets): Promise<Result> {
  const paths = Array.from({ length: 20 }, (_, index) => previewPath(input, BigInt(index + 1) * 1_000_000n));
  const polled = (started: Started) => ({ ...started, target: { ...started.target, paths } });
  const targets = { viem: polled(viem), viemMulticall: polled(viemMulticall), ours: polled(ours) };
  const figures = await compare(targets, { seconds: ROUND_SECONDS });
  const before = await countSent(ours.target);
  const counted = await load(targets.ours, COUNTED_SECONDS);
  const perRead = ((await countSent(ours.target)) - before) / (counted.requestsPerSecond * COUNTED_SECONDS);
  const cold = await measureCold(input, ours.target);
  return {
    name: 'On-chain reads: 64 clients poll 20 previews',
    bars: [
      throughputBar('viem per request', figures.ours, figures.viem, { min: 12, goal: 20 }),
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
 * Reads each preview from the chain's node and then from the service. Each preview has a new amount, so that no reply
 * is cached.
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
