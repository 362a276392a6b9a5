import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulators } from '@causeway/sandbox/simulators/start.ts';
import { compare, load, startTarget, type Target } from './load.ts';
import { askNode, previewPath, type ReadsSetting } from './reads-targets.ts';
import type { Result } from './result.ts';

const SECONDS = 10;
const COLD_READS = 200;
const BLOCK_INTERVAL = 2_000;

/** 64 clients poll 20 previews while the chain goes on: a route on plain viem, one on viem's multicall batching, ours. */
export async function run(): Promise<Result> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
  const simulators = await startSimulators({ dataDir, clock: { now_ms: Date.now(), running: true } });
  const stops = [simulators.stop];
  try {
    const [chain] = simulators.chains;
    const usdc = chain?.deployment.tokens[0];
    if (chain === undefined || usdc === undefined) throw new Error('the simulators have no chain');
    await simulators.control.call('chains/interval', { chain: chain.chain, milliseconds: BLOCK_INTERVAL });
    const setting = { rpcUrl: chain.rpc_url, swap: chain.deployment.fund_swap.address, token: usdc.address };
    const start = async (file: string, ...args: string[]) => {
      const { target, stop } = await startTarget(file, [JSON.stringify(setting), ...args]);
      stops.unshift(stop);
      return target;
    };
    return await measure(setting, {
      viem: await start('./reads-viem.ts'),
      viemMulticall: await start('./reads-viem.ts', 'multicall'),
      ours: await start('./reads-ours.ts'),
    });
  } finally {
    for (const stop of stops) await stop();
  }
}

type Contestants = { viem: Target; viemMulticall: Target; ours: Target };

async function measure(setting: ReadsSetting, { viem, viemMulticall, ours }: Contestants): Promise<Result> {
  const paths = Array.from({ length: 20 }, (_, index) =>
    previewPath(setting, BigInt(index + 1) * 1_000_000n),
  );
  const targets = {
    viem: { ...viem, paths },
    viemMulticall: { ...viemMulticall, paths },
    ours: { ...ours, paths },
  };
  const figures = await compare(targets, { rounds: 3, seconds: SECONDS });
  const before = await countSent(ours);
  const counted = await load(targets.ours, SECONDS);
  const perRead = ((await countSent(ours)) - before) / (counted.requestsPerSecond * SECONDS);
  const cold = await measureCold(setting, ours);
  return {
    name: 'On-chain reads: 64 clients poll 20 previews',
    bars: [
      {
        label: 'throughput against viem per request',
        value: figures.ours.requestsPerSecond / figures.viem.requestsPerSecond,
        min: 7,
        goal: 10,
      },
      { label: 'RPC requests per served read', value: perRead, max: 0.02 },
      { label: 'milliseconds that a cold read adds to the RPC', value: cold.ours - cold.node, max: 2 },
    ],
    figures: { ...figures, coldMedianMs: cold },
  };
}

async function countSent({ url }: Target): Promise<number> {
  return ((await (await fetch(`${url}/sent`)).json()) as { sent: number }).sent;
}

/** In turn, one at a time, each amount once, so that nothing can be known already. */
async function measureCold(
  setting: ReadsSetting,
  { url, headers = {} }: Target,
): Promise<{ node: number; ours: number }> {
  const times = { node: [] as number[], ours: [] as number[] };
  for (let i = 0; i < COLD_READS; i++) {
    const amount = 10n ** 9n + BigInt(i);
    times.node.push(await timed(() => askNode(setting, amount)));
    times.ours.push(
      await timed(async () => (await fetch(`${url}${previewPath(setting, amount)}`, { headers })).json()),
    );
  }
  return { node: median(times.node), ours: median(times.ours) };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
