export type Theme = 'light' | 'dark';

/** A value and its spread on a logarithmic scale, with the limit that the value must meet and an optional goal. */
export type RatioRow = {
  label: string;
  value: number;
  lowest: number;
  highest: number;
  limit: number;
  goal?: number;
};

/** The latency of one target at one percentile. */
export type LatencyRow = { target: string; percentile: string; ms: number };

/**
 * A point on a growth curve. `times` is its size divided by the smallest size. `cost` is its cost divided by the cost
 * at the smallest size.
 */
export type GrowthRow = { curve: string; times: number; cost: number };

/** These functions return the text of an SVG file. */
export function drawRatios(rows: readonly RatioRow[], theme: Theme): string;
export function drawLatencies(rows: readonly LatencyRow[], theme: Theme): string;
export function drawGrowth(rows: readonly GrowthRow[], theme: Theme): string;
