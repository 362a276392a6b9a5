import type { DeployedAsset } from '../chains/deploy-venue.ts';
import { createCalendar } from './calendar.ts';
import { formatScaled } from './decimals.ts';
import { pastMidPrice, priceWithSpread } from './prices.ts';

export type PastPrice = { symbol: string; recorded_at: string; price: string; session: string };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/**
 * The spacing of past prices, from the newest to the oldest. Each entry covers the time from `days` days ago to the
 * start of the entry above it (or to now), with one price every `stepMs`. Daily prices are taken at 19:00 UTC.
 */
const SPANS = [
  { days: 4, stepMs: 5 * MINUTE_MS },
  { days: 8, stepMs: HOUR_MS },
  { days: 31, stepMs: 4 * HOUR_MS },
  { days: 366, stepMs: DAY_MS },
] as const;
const DAILY_OFFSET_MS = 19 * HOUR_MS;
const UNIT = 10n ** 18n;

/**
 * Returns each asset's buy price at regular intervals over the last year. Leaves out times outside the conventional
 * sessions.
 */
export function pastPrices(seed: string, assets: readonly DeployedAsset[], now: number): PastPrice[] {
  const calendar = createCalendar();
  const times = SPANS.flatMap(({ days, stepMs }, index) => {
    const offset = stepMs === DAY_MS ? DAILY_OFFSET_MS : 0;
    const end = index === 0 ? now : now - (SPANS[index - 1]?.days ?? 0) * DAY_MS;
    const count = Math.floor((end - (now - days * DAY_MS)) / stepMs);
    const last = Math.floor((end - offset) / stepMs) * stepMs + offset;
    return Array.from({ length: count }, (_, step) => last - step * stepMs);
  });
  return times.flatMap((at) => {
    const { status } = calendar(at);
    if (status === 'offhours' || status === 'paused' || status === 'closed') return [];
    return assets.map(({ symbol, price }) => {
      const mid = pastMidPrice(seed, symbol, BigInt(price), { at, now });
      const pricing = { side: 'buy', duration: 'short', status, notional: 0n } as const;
      const recorded_at = new Date(at).toISOString();
      // Prices have six decimals, like those in the venue's charts.
      const rounded = (priceWithSpread(mid, pricing) / (UNIT / 1_000_000n)) * (UNIT / 1_000_000n);
      return { symbol, recorded_at, price: formatScaled(rounded), session: status };
    });
  });
}
