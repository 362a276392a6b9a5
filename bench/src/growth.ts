import { readCpuTime } from './cpu.ts';
import { inTurn, load, MIN_ROUNDS } from './load.ts';
import { type Bar, barOf, type Options, type Result } from './result.ts';
import { measure } from './settlement.ts';
import { type Spread, spreadOf } from './statistics.ts';
import { type Started, startTarget, type Target } from './target.ts';

/** CPU microseconds per operation, for the service and its database together. Maps each size to one value per round. */
type Costs = Record<number, number[]>;

/**
 * One growth curve. If `flat` is expected, the cost must not grow with the size. If `linear` is expected, the cost may
 * grow at most in proportion to the size.
 */
export type Curve = {
  per: string;
  by: string;
  expected: keyof typeof MAX_EXPONENT;
  points: ({ size: number } & Spread)[];
};

type Part = {
  by: string;
  sizes: number[];
  /** A size that only `--large` measures, because seeding it takes minutes. */
  large?: number;
  measure(sizes: readonly number[]): Promise<Record<string, Costs>>;
  expected?: keyof typeof MAX_EXPONENT;
};

/**
 * The highest exponent that still counts as flat or linear. With an exponent of 0.1, a hundredfold size multiplies the
 * cost by 1.6. `flat` allows this growth, because a larger index may be one level deeper and less of it is cached.
 */
const MAX_EXPONENT = { flat: 0.1, linear: 1.05 };
const ROUND_SECONDS = 2;
const EVENTS_PER_ROUND = 300;
const STREAMS_PER_USER = 10;
const SETTLED_ROWS = 540;
const SETTLING_WALLETS = 180;

const PARTS: Record<string, Part> = {
  requests: {
    ...{ by: 'users', sizes: [1_000, 10_000, 100_000], large: 1_000_000 },
    measure: (sizes) => measureTargets('users', sizes),
  },
  offers: { by: 'offers', sizes: [4, 40, 400], measure: (sizes) => measureTargets('offers', sizes) },
  lists: {
    ...{ by: 'participations', sizes: [1_000, 10_000, 100_000], large: 1_000_000 },
    measure: (sizes) => measureTargets('lists', sizes),
  },
  events: {
    ...{ by: 'events', sizes: [1_000, 10_000, 100_000], large: 1_000_000 },
    measure: (sizes) => measureTargets('events', sizes),
  },
  eligibility: {
    ...{ by: 'options of the offer', sizes: [1, 10, 100], expected: 'linear' },
    measure: (sizes) => measureTargets('eligibility', sizes),
  },
  streams: { by: 'open streams', sizes: [20, 200, 2_000], measure: measureStreams },
  settlement: { by: 'waiting participations', sizes: [1_000, 10_000, 100_000], measure: measureSettlement },
};

/**
 * Measures how the CPU time per operation grows with a size, such as the number of rows, users or streams. Each part
 * measures several sizes in turn, each in its own process with its own database. The result is an exponent: the slope
 * of cost against size on logarithmic scales, at the largest sizes. `--rows` replaces the sizes with 1%, 10% and 100%
 * of its value.
 */
export async function run({ part: only, large = false, rows }: Options): Promise<Result> {
  if (only !== undefined && PARTS[only] === undefined)
    throw new Error(`unknown part "${only}"; use ${Object.keys(PARTS).join(', ')}`);
  const figures: Record<string, Curve> = {};
  const bars: Bar[] = [];
  for (const [name, part] of Object.entries(PARTS)) {
    if (only !== undefined && only !== name) continue;
    const { by, expected = 'flat' } = part;
    const usual = large && part.large !== undefined ? [...part.sizes, part.large] : part.sizes;
    const sizes = rows === undefined ? usual : [100, 10, 1].map((divisor) => Math.ceil(rows / divisor));
    for (const [operation, costs] of Object.entries(await part.measure(sizes))) {
      const points = sizes.map((size) => ({ size, ...spreadOf(costs[size] ?? []) }));
      figures[`${operation}, by ${by}`] = { per: operation, by, expected, points };
      bars.push(
        barOf(`exponent of ${operation}, by ${by} (${expected})`, exponents(sizes, costs, expected), {
          max: MAX_EXPONENT[expected],
        }),
      );
    }
  }
  return { name: 'How cost grows', bars, figures };
}

/**
 * Returns one exponent per round. An exponent describes how the cost grows at the largest sizes. For `flat`, compares
 * the costs at the two largest sizes. For `linear`, takes the three largest sizes and compares the increase in cost
 * from the first to the second with the increase from the second to the third. A fixed cost, which would hide how the
 * rest grows, cancels out this way. Each size must be ten times the previous size.
 */
export function exponents(
  sizes: readonly number[],
  costs: Costs,
  expected: keyof typeof MAX_EXPONENT,
): number[] {
  const [first = 0, second = 0, third = 0] = sizes.slice(-3);
  return Array.from({ length: MIN_ROUNDS }, (_, round) => {
    const [low, middle, high] = [first, second, third].map((size) => costs[size]?.[round] ?? Number.NaN) as [
      number,
      number,
      number,
    ];
    const growth =
      expected === 'flat' ? high / middle : (high - middle) / Math.max(middle - low, middle / 100);
    return Math.log(Math.max(growth, 1e-3)) / Math.log(third / second);
  });
}

/** Starts one process per size and sends requests to the processes in turn. `growth-target.ts` defines the requests. */
async function measureTargets(part: string, sizes: readonly number[]): Promise<Record<string, Costs>> {
  const targets: Started<Record<string, Target>>[] = [];
  try {
    for (const size of sizes) targets.push(await startTarget('./growth-target.ts', [part, String(size)]));
    const operations = Object.keys(targets[0]?.target ?? {});
    const found: Record<string, Costs> = {};
    for (const operation of operations)
      found[operation] = await takeTurns(sizes, async (_, index) => {
        const { pid, target } = targets[index] as Started<Record<string, Target>>;
        const measured = await load({ pid, target: target[operation] as Target }, ROUND_SECONDS, 16);
        return (measured.serviceCpuMicros ?? Number.NaN) + (measured.databaseCpuMicros ?? Number.NaN);
      });
    return found;
  } finally {
    for (const { stop } of targets) await stop();
  }
}

/** Appends events for users who have ten streams each. The sizes differ in how many streams are open in total. */
async function measureStreams(sizes: readonly number[]): Promise<Record<string, Costs>> {
  const started: { stop(): Promise<void> }[] = [];
  try {
    const targets: { pid: number; appendUrl: string; readersUrl: string }[] = [];
    for (const size of sizes) {
      const users = size / STREAMS_PER_USER;
      const served = await startTarget<{ url: string; appendUrl: string; tokens: string[] }>(
        './growth-streams.ts',
        [String(users)],
      );
      started.unshift(served);
      const { url, appendUrl, tokens } = served.target;
      const readers = await startTarget('./events-readers.ts', [url, String(size), ...tokens]);
      started.unshift(readers);
      targets.push({ pid: served.pid, appendUrl, readersUrl: readers.target.url });
    }
    const costs = await takeTurns(sizes, async (_, index) => {
      const { pid, appendUrl, readersUrl } = targets[index] as (typeof targets)[number];
      const before = readCpuTime(pid);
      await fetch(`${appendUrl}/${EVENTS_PER_ROUND}`);
      for (let arrived = 0; arrived < EVENTS_PER_ROUND * STREAMS_PER_USER; ) {
        arrived += ((await (await fetch(readersUrl)).json()) as number[]).length;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const after = readCpuTime(pid);
      if (before === null || after === null) return Number.NaN;
      const used = after.ownMs + after.descendantsMs - before.ownMs - before.descendantsMs;
      return (used * 1000) / EVENTS_PER_ROUND;
    });
    return { [`an event to ${STREAMS_PER_USER} streams`]: costs };
  } finally {
    for (const { stop } of started) await stop();
  }
}

/** Settles the same number of participations from backlogs of different sizes. */
async function measureSettlement(sizes: readonly number[]): Promise<Record<string, Costs>> {
  const common = { count: SETTLED_ROWS, wallets: SETTLING_WALLETS, generation: 1, history: 0 } as const;
  const costs = await takeTurns(sizes, async (backlog) => {
    const figure = await measure({ ...common, blockMs: 0, confirmations: 1, backlog });
    return 1000 * (figure.serviceMsPerRow + (figure.databaseMsPerRow ?? Number.NaN));
  });
  return { 'a settled participation': costs };
}

/** Measures every size once per round. Discards the costs of the first round, which serves as a warm-up. */
async function takeTurns(
  sizes: readonly number[],
  measureOne: (size: number, index: number) => Promise<number>,
): Promise<Costs> {
  const costs: Costs = Object.fromEntries(sizes.map((size) => [size, []]));
  for (let round = 0; round <= MIN_ROUNDS; round++)
    for (const [index, size] of inTurn([...sizes.entries()], round)) {
      const cost = await measureOne(size, index);
      if (round > 0) costs[size]?.push(cost);
    }
  return costs;
}
