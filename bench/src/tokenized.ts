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
const CPU_BUDGET = 5;
/** Milliseconds to a venue and back, on a connection that stands. */
const DISTANCE = 50;

/** Quotes that many poll, against routes that ask the venue each time; and what a transaction costs us. */
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
    const { url: farUrl } = await start('./tokenized-far.ts', [simulators.venue.url, String(DISTANCE)]);
    const far = [farUrl, simulators.venue.api_key];
    const bare = async (...args: string[]) => ({
      ...(await start('./tokenized-bare.ts', args)),
      paths: QUOTES,
    });
    const quoting = ({ url, headers }: Measured) => ({ url, headers, paths: QUOTES });
    const ours = await start<Measured>('./tokenized-ours.ts', [...venue, ...rest]);
    const before = await readStats(ours);
    const figures = await compare({
      'asks nobody': await bare('nobody', ...venue),
      'asks by fetch': await bare('fetch', ...venue),
      'asks by a pool': await bare('pool', ...venue),
      'asks far away': await bare('pool', ...far),
      ours: quoting(ours),
      'ours, far away': quoting(await start<Measured>('./tokenized-ours.ts', [...far, ...rest])),
    });
    const after = await readStats(ours);
    const perQuote = (after.venue - before.venue) / (after.served - before.served);
    const over = (mine: keyof typeof figures, theirs: keyof typeof figures) =>
      figures[mine].requestsPerSecond / figures[theirs].requestsPerSecond;
    const cost = await measureTransactions(simulators, ours);
    return {
      name: 'Tokenized swaps: 64 clients that poll 10 quotes, and the transaction',
      bars: [
        {
          label: 'throughput against a bare route that asks the venue each time, by fetch',
          value: over('ours', 'asks by fetch'),
          ...{ min: 6, goal: 10 },
        },
        {
          label: 'the same, where that route keeps a pool of connections',
          value: over('ours', 'asks by a pool'),
          ...{ min: 6, goal: 10 },
        },
        {
          label: `the same, with a pool and the venue ${DISTANCE} ms away`,
          value: over('ours, far away', 'asks far away'),
          ...{ min: 6, goal: 10 },
        },
        {
          label: 'throughput against a route that asks nobody, the most there is to reach',
          value: over('ours', 'asks nobody'),
          min: 0.6,
        },
        { label: 'quotes served for each call of the venue', value: 1 / perQuote, min: 20 },
        {
          label: 'milliseconds of CPU for a transaction, twenty at once',
          value: cost.atOnce,
          max: CPU_BUDGET,
        },
        {
          label: 'milliseconds of CPU for a transaction, one at a time',
          value: cost.mean,
          max: CPU_BUDGET,
        },
      ],
      figures: {
        ...figures,
        'a transaction, ms of CPU': cost,
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
