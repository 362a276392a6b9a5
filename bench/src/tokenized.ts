import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startOutside } from '@causeway/sandbox/start-outside.ts';
import { compare, startTarget } from './load.ts';
import type { Result } from './main.ts';
import { type Measured, measureTransactions } from './tokenized-orders.ts';

const QUOTES = Array.from(
  { length: 10 },
  (_, index) => `/v1/tokenized/swap/quote?symbol=AAPLon&side=buy&notional_value=${100 + index}`,
);
const CPU_BUDGET = 5;

/** Quotes that many poll, against a route that asks the venue each time; and what a transaction costs us. */
export async function run(): Promise<Result> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-bench-outside-'));
  const outside = await startOutside({ dataDir, clock: { now_ms: Date.now(), running: true } });
  await outside.control.call('venue/set', { session: 'regular' });
  const venue = [outside.venue.url, outside.venue.api_key];
  const rest = [outside.chains[0]?.service_url ?? '', JSON.stringify(offerFile(outside))];
  const stops = [outside.stop];
  try {
    const bare = await startTarget('./tokenized-bare.ts', venue);
    stops.unshift(bare.stop);
    const ours = await startTarget<Measured>('./tokenized-ours.ts', [...venue, ...rest]);
    stops.unshift(ours.stop);
    const before = await readCalls(ours.target);
    const figures = await compare({
      bare: { ...bare.target, paths: QUOTES },
      ours: { url: ours.target.url, headers: ours.target.headers, paths: QUOTES },
    });
    const after = await readCalls(ours.target);
    const perQuote = (after.venue - before.venue) / (after.served - before.served);
    const ratio = figures.ours.requestsPerSecond / figures.bare.requestsPerSecond;
    const cpu = await measureTransactions(outside, ours.target);
    return {
      name: 'Tokenized swaps: 64 clients that poll 10 quotes, and the transaction',
      bars: [
        { says: 'throughput against asking the venue each time', reached: ratio, least: 6, goal: 10 },
        { says: 'quotes served for each call of the venue', reached: 1 / perQuote, least: 20 },
        {
          says: `the budget of ${CPU_BUDGET} ms over what a transaction costs in CPU`,
          reached: CPU_BUDGET / cpu,
          least: 1,
        },
      ],
      figures: { ...figures, transaction: { cpuMilliseconds: cpu }, venueCallsPerQuote: { calls: perQuote } },
    };
  } finally {
    for (const stop of stops) await stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

type Calls = { venue: number; served: number };

async function readCalls({ statsUrl }: Measured): Promise<Calls> {
  return (await (await fetch(statsUrl)).json()) as Calls;
}

function offerFile({ chains }: Awaited<ReturnType<typeof startOutside>>): object {
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
