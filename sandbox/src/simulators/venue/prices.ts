import { createHash } from 'node:crypto';
import type { MarketStatus } from './calendar.ts';

export type Side = 'buy' | 'sell';
export type Duration = 'short' | 'long';

const DRIFT_SCALE = 1_000_000_000n;
/**
 * The waves that move the price. Their amplitudes add up to less than 0.02, so the price stays within two percent of
 * the reference.
 */
const OCTAVES = [
  { periodMs: 2_000, amplitude: 0.0001 },
  { periodMs: 30_000, amplitude: 0.0006 },
  { periodMs: 600_000, amplitude: 0.003 },
  { periodMs: 14_400_000, amplitude: 0.015 },
] as const;

/** Slower waves. They are added only to past prices, because the live price must stay close to the reference. */
const PAST_OCTAVES = [
  { periodMs: 259_200_000, amplitude: 0.02 },
  { periodMs: 2_592_000_000, amplitude: 0.06 },
  { periodMs: 12_960_000_000, amplitude: 0.12 },
] as const;

/**
 * Returns the mid price, which moves around the reference. The same seed, symbol and time always give the same price.
 */
export function midPrice(seed: string, symbol: string, reference: bigint, now: number): bigint {
  return applyDrift(reference, sumWaves(OCTAVES, seed, symbol, now));
}

/**
 * Returns the mid price at the past time `at`: the result of `midPrice`, plus a trend. The trend is zero at `now`, so
 * that a chart of past prices ends at the live price.
 */
export function pastMidPrice(
  seed: string,
  symbol: string,
  reference: bigint,
  { at, now }: { at: number; now: number },
): bigint {
  const trend = (time: number) => sumWaves(PAST_OCTAVES, seed, symbol, time);
  return applyDrift(midPrice(seed, symbol, reference, at), trend(at) - trend(now));
}

function applyDrift(price: bigint, drift: number): bigint {
  return price + (price * BigInt(Math.round(drift * Number(DRIFT_SCALE)))) / DRIFT_SCALE;
}

type Octave = { periodMs: number; amplitude: number };

function sumWaves(octaves: readonly Octave[], seed: string, symbol: string, time: number): number {
  let sum = 0;
  for (const { periodMs, amplitude } of octaves) {
    const step = Math.floor(time / periodMs);
    const progress = time / periodMs - step;
    const from = noise(seed, symbol, periodMs, step);
    const to = noise(seed, symbol, periodMs, step + 1);
    sum += amplitude * (from + (to - from) * progress);
  }
  return sum;
}

/** Returns a pseudo-random number from -1 to 1. */
function noise(seed: string, symbol: string, periodMs: number, step: number): number {
  const hash = createHash('sha256').update(`${seed} ${symbol} ${periodMs} ${step}`).digest();
  return hash.readInt32BE() / 2 ** 31;
}

/** Spreads are in points: 100,000 points are 100%, so 1,000 points are 1%. */
const POINTS = 100_000n;
const MAX_SPREAD_POINTS = 2_000n;
const DURATION_POINTS: Record<Duration, bigint> = { short: 50n, long: 150n };
const SESSION_FACTOR: Partial<Record<MarketStatus, bigint>> = {
  premarket: 2n,
  postmarket: 2n,
  overnight: 3n,
  offhours: 6n,
};
/** The spread grows by one point per 1,000 dollars of notional. */
const NOTIONAL_PER_POINT = 1_000n * 10n ** 18n;

export type Pricing = { side: Side; duration: Duration; status: MarketStatus; notional: bigint };

/**
 * Returns the price of an order: the mid price plus or minus a spread that depends on the session, the quote's duration
 * and the order's size.
 */
export function priceWithSpread(mid: bigint, { side, duration, status, notional }: Pricing): bigint {
  const points = DURATION_POINTS[duration] * (SESSION_FACTOR[status] ?? 1n) + notional / NOTIONAL_PER_POINT;
  const spread = (mid * (points > MAX_SPREAD_POINTS ? MAX_SPREAD_POINTS : points)) / POINTS;
  return side === 'buy' ? mid + spread : mid - spread;
}
