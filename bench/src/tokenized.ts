import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startSimulators } from '@causeway/sandbox/simulators/start.ts';
import { extractCommit, installPackages, VERSION_0_1 } from './earlier-version.ts';
import { compare, ratioBars, throughputBar } from './load.ts';
import { barOf, type Result } from './result.ts';
import { ratios } from './statistics.ts';
import { pinToCore, type Started, startTarget, type Target } from './target.ts';
import { type Measured, measureTransactions, readStats } from './tokenized-orders.ts';

const QUOTES = Array.from(
  { length: 10 },
  (_, index) => `/v1/tokenized/swap/quote?symbol=AAPLon&side=buy&notional_value=${100 + index}`,
);
const CPU_BUDGET_MS = { max: 5, goal: 4 };
/** The budget relative to version 0.1, which took 5.3 to 6 ms when the budget was set. */
const CPU_RATIO = { max: 5 / 6, goal: 4 / 6 };
/** The simulated round trip to a remote venue. */
const ROUND_TRIP_MS = 50;

/**
 * Compares the throughput of the service's quotes with two kinds of bare routes: routes that call the venue for every
 * request, and a route that returns a constant reply. Also measures the CPU time per transaction. That time depends on
 * the machine, so it is also compared with version 0.1. For this part, if the machine has several cores and `taskset`,
 * the service and its database share one core, so that the load generator and the simulators do not empty its caches.
 */
export async function run(): Promise<Result> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-bench-simulators-'));
  const simulators = await startSimulators({ dataDir, clock: { now_ms: Date.now(), running: true } });
  await simulators.control.call('venue/set', { session: 'regular' });
  const venue = [simulators.venue.url, simulators.venue.api_key];
  const rest = [simulators.chains[0]?.service_url ?? '', JSON.stringify(offerFile(simulators))];
  const formerFolder = extractCommit(VERSION_0_1);
  const stops: (() => Promise<void>)[] = [];
  let unpin: ReturnType<typeof pinToCore>;
  const stopTargets = async () => {
    for (const stop of stops.splice(0)) await stop();
  };
  try {
    const start = async <T = Target>(file: string, args: string[]): Promise<Started<T>> => {
      const started = await startTarget<T>(file, args);
      stops.push(started.stop);
      return started;
    };
    const { target: remote } = await start('./tokenized-far.ts', [
      simulators.venue.url,
      String(ROUND_TRIP_MS),
    ]);
    const far = [remote.url, simulators.venue.api_key];
    const quoting = ({ target, ...started }: Started<Target | Measured>) => ({
      ...started,
      target: { url: target.url, ...('headers' in target && { headers: target.headers }), paths: QUOTES },
    });
    const bare = async (...args: string[]) => quoting(await start('./tokenized-bare.ts', args));
    const ours = await start<Measured>('./tokenized-ours.ts', [...venue, ...rest]);
    const before = await readStats(ours.target);
    const figures = await compare({
      'constant reply': await bare('constant', ...venue),
      'bare route, fetch': await bare('fetch', ...venue),
      'bare route, pool': await bare('pool', ...venue),
      'bare route, remote venue': await bare('pool', ...far),
      ours: quoting(ours),
      'ours, remote venue': quoting(await start<Measured>('./tokenized-ours.ts', [...far, ...rest])),
    });
    const after = await readStats(ours.target);
    const perQuote = (after.venue - before.venue) / (after.served - before.served);
    await stopTargets();
    const formerFile = prepareFormer(formerFolder);
    unpin = pinToCore(0);
    const targetCore = unpin && 1;
    const startPinned = (file: string) => startTarget<Measured>(file, [...venue, ...rest], targetCore);
    const { cost, formerCost } = await measureTransactions(simulators, {
      cost: () => startPinned('./tokenized-ours.ts'),
      formerCost: () => startPinned(formerFile),
    });
    return {
      name: 'Tokenized swaps: 64 clients poll 10 quotes, and transactions',
      bars: [
        throughputBar(
          'a bare route that calls the venue with fetch',
          figures.ours,
          figures['bare route, fetch'],
          {
            ...{ min: 6, goal: 10 },
          },
        ),
        throughputBar(
          'a bare route that calls the venue through a pool',
          figures.ours,
          figures['bare route, pool'],
          {
            ...{ min: 6, goal: 10 },
          },
        ),
        throughputBar(
          `a pool, with a venue ${ROUND_TRIP_MS} ms away`,
          figures['ours, remote venue'],
          figures['bare route, remote venue'],
          { min: 6, goal: 10 },
        ),
        ...ratioBars('a constant reply, the upper bound', figures.ours, figures['constant reply'], {
          ...{ min: 0.6, goal: 0.75 },
        }),
        { label: 'quotes served per call to the venue', value: 1 / perQuote, min: 20 },
        barOf('CPU milliseconds per transaction, twenty at once', cost.atOnce, CPU_BUDGET_MS),
        barOf('CPU milliseconds per transaction, one at a time', cost.oneByOne, CPU_BUDGET_MS),
        barOf(
          'CPU time per transaction relative to version 0.1, one at a time',
          ratios(cost.oneByOne, formerCost.oneByOne),
          CPU_RATIO,
        ),
      ],
      figures: {
        ...figures,
        'CPU milliseconds per transaction': cost,
        'CPU milliseconds per transaction, version 0.1': formerCost,
        'venue calls per quote': { calls: perQuote },
      },
    };
  } finally {
    unpin?.();
    await stopTargets();
    await simulators.stop();
    rmSync(formerFolder, { recursive: true, force: true });
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * Installs the packages of version 0.1 and returns the address of its target. The target is changed so that it deletes
 * its orders when this version's path is requested. Version 0.1 needs no proof of a wallet and keeps its own time.
 */
function prepareFormer(folder: string): string {
  installPackages(folder);
  const sources = join(folder, 'bench/src');
  const text = readFileSync(join(sources, 'tokenized-ours.ts'), 'utf8');
  const changed = text.replace("request.url === '/reset'", "request.url?.startsWith('/reset/')");
  if (changed === text) throw new Error('version 0.1 has another target than expected');
  const file = join(sources, 'tokenized-version-0-1.ts');
  writeFileSync(file, changed);
  return pathToFileURL(file).href;
}

function offerFile({ chains }: Awaited<ReturnType<typeof startSimulators>>): object {
  const deployment = chains[0]?.deployment;
  const venue = deployment?.venue;
  return {
    slug: 'apple',
    type: 'tokenized::swap',
    name: 'Apple',
    logo_url: 'https://assets.test/logo.svg',
    asset: 'aaplon',
    funding_assets: ['usd-coin'],
    symbol: 'AAPLon',
    fee_bps: venue?.fee_bps,
    partners: ['Bench'],
    options: [{ slug: 'standard' }],
    contracts: [
      {
        chain: 'ethereum_sepolia',
        address: venue?.swap,
        asset_address: venue?.assets[0]?.address,
        funding_tokens: [{ asset: 'usd-coin', address: deployment?.tokens[0]?.address }],
      },
    ],
    assets: {
      aaplon: { code: 'AAPLon', name: 'Apple', fractional_digits: 18 },
      'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6 },
    },
  };
}
