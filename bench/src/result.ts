import { median } from './statistics.ts';

/**
 * A measured value and the limit that it must meet. If there are `rounds`, `value` is their median. `goal` is only
 * printed and does not affect the verdict.
 */
export type Bar = { label: string; value: number; rounds?: number[]; goal?: number } & (
  | { min: number }
  | { max: number }
);

/** The outcome of one benchmark. `figures` are printed as a table and stored in full. */
export type Result = {
  name: string;
  bars: Bar[];
  figures: Record<string, unknown>;
};

export type Options = {
  /** The size of the seeded tables. */
  rows?: number;
  /** The only part of the benchmark to run. */
  part?: string;
  /** Whether to add measurements with tables so large that seeding them takes minutes. */
  large?: boolean;
};

export type Verdict = 'met' | 'MISSED' | 'not decided: the limit is inside the spread';

/** Returns a bar whose value is the median of the rounds. */
export function barOf(
  label: string,
  rounds: number[],
  limit: { goal?: number } & ({ min: number } | { max: number }),
): Bar {
  return { label, value: median(rounds), rounds, ...limit };
}

/**
 * Compares the value with its limit. If the limit lies between the lowest and the highest round, the verdict is "not
 * decided".
 */
export function judge(bar: Bar): Verdict {
  const limit = 'min' in bar ? bar.min : bar.max;
  const { value, rounds = [value] } = bar;
  if (Math.min(...rounds) < limit && limit < Math.max(...rounds))
    return 'not decided: the limit is inside the spread';
  return ('min' in bar ? value >= limit : value <= limit) ? 'met' : 'MISSED';
}

/** Returns a value as text, followed by the lowest and the highest value of its rounds in parentheses. */
export function describeValue({ value, rounds = [] }: Pick<Bar, 'value' | 'rounds'>): string {
  const digits = Math.abs(value) < 0.1 ? 4 : Math.abs(value) < 100 ? 2 : 0;
  const show = (number: number) => number.toFixed(digits);
  if (rounds.length < 2) return show(value);
  return `${show(value)} (${show(Math.min(...rounds))} to ${show(Math.max(...rounds))})`;
}

/** Returns the limit and the goal as text. */
export function describeLimit(bar: Bar): string {
  const show = (number: number) => Number(number.toFixed(2));
  const limit = 'min' in bar ? `≥ ${show(bar.min)}` : `≤ ${show(bar.max)}`;
  return bar.goal === undefined ? limit : `${limit}, goal ${show(bar.goal)}`;
}
