import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulators } from '@causeway/sandbox/simulators/start.ts';
import { compare, startTarget, type Target } from './load.ts';
import type { Result } from './result.ts';
import { type Measured, measureTransactions, readStats } from './tokenized-orders.ts';

const QUOTES = Array.from(
  { length: 10 },
  (_, index) => `/v1/tokenized/swap/quote?symbol=AAPLon&side=buy&notional_value=${100 + index}`,
);
const CPU_BUDGET_MS = 5;
/** The simulated round trip to a remote venue. */
const ROUND_TRIP_MS = 50;

/** Compares polled quotes with routes that call the venue for every request, and measures the CPU cost of a transaction. */
export async function run(): Promise<Result> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-bench-simulators-'));
  const simulators = await startSimulators({ dataDir, clock: { now_ms: Date.now(), running: true } });
  await simulators.control.call('venue/set', { session: 'regular' });
  const venue = [simulators.venue.url, simulators.venue.api_key];
  const rest = [simulators.chains[0]?.service_url ?? '', JSON.stringify(offerFile(simulators))];
  const stops = [simulators.stop];
  try {
    const start = async <T = Target>(file: string, args: string[]): Promise<T> => {
      const { target, stop } = await startTarget<T>(file, args);
      stops.unshift(stop);
      return target;
    };
    const { url: farUrl } = await start('./tokenized-far.ts', [simulators.venue.url, String(ROUND_TRIP_MS)]);
    const far = [farUrl, simulators.venue.api_key];
    const bare = async (...args: string[]) => ({
      ...(await start('./tokenized-bare.ts', args)),
      paths: QUOTES,
    });
    const quoting = ({ url, headers }: Measured) => ({ url, headers, paths: QUOTES });
    const ours = await start<Measured>('./tokenized-ours.ts', [...venue, ...rest]);
    const before = await readStats(ours);
    const figures = await compare({
      'constant reply': await bare('constant', ...venue),
      'bare route, fetch': await bare('fetch', ...venue),
      'bare route, pool': await bare('pool', ...venue),
      'bare route, remote venue': await bare('pool', ...far),
      ours: quoting(ours),
      'ours, remote venue': quoting(await start<Measured>('./tokenized-ours.ts', [...far, ...rest])),
    });
    const after = await readStats(ours);
    const perQuote = (after.venue - before.venue) / (after.served - before.served);
    const over = (mine: keyof typeof figures, theirs: keyof typeof figures) =>
      figures[mine].requestsPerSecond / figures[theirs].requestsPerSecond;
    const cost = await measureTransactions(simulators, ours);
    return {
      name: 'Tokenized swaps: 64 clients poll 10 quotes, and transactions',
      bars: [
        {
          label: 'throughput relative to a bare route that calls the venue with fetch',
          value: over('ours', 'bare route, fetch'),
          ...{ min: 6, goal: 10 },
        },
        {
          label: 'throughput relative to a bare route that calls the venue through a pool',
          value: over('ours', 'bare route, pool'),
          ...{ min: 6, goal: 10 },
        },
        {
          label: `throughput relative to a pool, with a venue ${ROUND_TRIP_MS} ms away`,
          value: over('ours, remote venue', 'bare route, remote venue'),
          ...{ min: 6, goal: 10 },
        },
        {
          label: 'throughput relative to a constant reply, the upper bound',
          value: over('ours', 'constant reply'),
          min: 0.6,
        },
        { label: 'quotes served per call to the venue', value: 1 / perQuote, min: 20 },
        {
          label: 'CPU milliseconds per transaction, twenty at once',
          value: cost.atOnce,
          max: CPU_BUDGET_MS,
        },
        {
          label: 'CPU milliseconds per transaction, one at a time',
          value: cost.mean,
          max: CPU_BUDGET_MS,
        },
      ],
      figures: {
        ...figures,
        'CPU milliseconds per transaction': cost,
        'venue calls per quote': { calls: perQuote },
      },
    };
  } finally {
    for (const stop of stops) await stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
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
