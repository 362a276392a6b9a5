import { createHash } from 'node:crypto';
import type { MarketStatus } from './calendar.ts';

export type Side = 'buy' | 'sell';
export type Duration = 'short' | 'long';

const PARTS = 1_000_000_000n;
/** Each octave: how often it turns and how far it leads away, so that the price stays within two percent in all. */
const OCTAVES = [
  { period: 2_000, reach: 0.0001 },
  { period: 30_000, reach: 0.0006 },
  { period: 600_000, reach: 0.003 },
  { period: 14_400_000, reach: 0.015 },
] as const;

/** A walk around the reference that follows from the seed and the time alone: the same after a restart. */
export function midPrice(seed: string, symbol: string, reference: bigint, now: number): bigint {
  let drift = 0;
  for (const { period, reach } of OCTAVES) {
    const step = Math.floor(now / period);
    const part = now / period - step;
    const from = turn(seed, symbol, period, step);
    const to = turn(seed, symbol, period, step + 1);
    drift += reach * (from + (to - from) * part);
  }
  return reference + (reference * BigInt(Math.round(drift * Number(PARTS)))) / PARTS;
}

/** From -1 to 1. */
function turn(seed: string, symbol: string, period: number, step: number): number {
  const hash = createHash('sha256').update(`${seed} ${symbol} ${period} ${step}`).digest();
  return hash.readInt32BE() / 2 ** 31;
}

const DURATION_POINTS: Record<Duration, bigint> = { short: 50n, long: 150n };
const SESSION_FACTOR: Partial<Record<MarketStatus, bigint>> = {
  premarket: 2n,
  postmarket: 2n,
  overnight: 3n,
  offhours: 6n,
};
/** Dollars scaled 1e18 for which the spread grows by a point. */
const SIZE_STEP = 1_000n * 10n ** 18n;
const POINTS = 100_000n;

export type Pricing = { side: Side; duration: Duration; status: MarketStatus; notional: bigint };

/** The price a size is traded at: away from the middle by the session, the promise's duration and the size. */
export function pricedAt(mid: bigint, { side, duration, status, notional }: Pricing): bigint {
  const points = DURATION_POINTS[duration] * (SESSION_FACTOR[status] ?? 1n) + notional / SIZE_STEP;
  const spread = (mid * (points > 2_000n ? 2_000n : points)) / POINTS;
  return side === 'buy' ? mid + spread : mid - spread;
}
