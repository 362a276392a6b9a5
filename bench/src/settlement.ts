import type { Options, Result } from './result.ts';
import type { SettlementFigures, SettlementModel } from './settlement-ours.ts';
import { startTarget } from './target.ts';

const ROWS = 10_000;
/** Ethereum's timing: a block every 12 s. A block counts as safe 32 blocks later. */
const MAINNET = { blockMs: 12_000, confirmations: 32 };
/**
 * How many rows, one per participation, to settle in a second-generation fund (whose commitments have ids). Only the
 * gas for these rows is measured. Gas does not depend on block timing, so the chain mines blocks on demand.
 */
const GAS_ROWS = 500;
/** How many rows to settle from each backlog in `BACKLOGS`. The rows belong to `FLAT_WALLETS` wallets. */
const FLAT_ROWS = 900;
const FLAT_WALLETS = 180;
const BACKLOGS = [1_000, 10_000, 100_000];
const HISTORY = 100_000;

/**
 * Measures settlement in two parts. `mainnet` settles participations of new users with Ethereum's timing, and also
 * compares the gas of batches with the gas of single commits, for both generations of funds. `flat` measures whether
 * the cost per row grows with the number of waiting or settled rows. `--part` selects one part.
 */
export async function run({ rows = ROWS, part }: Options): Promise<Result> {
  const results = [
    ...(part === 'flat' ? [] : [await measureMainnet(rows)]),
    ...(part === 'mainnet' ? [] : [await measureFlatness()]),
  ];
  return {
    name: `settlement of ${rows} participations at mainnet timing`,
    figures: Object.assign({}, ...results.map(({ figures }) => figures)),
    bars: results.flatMap(({ bars }) => bars),
  };
}

async function measureMainnet(rows: number): Promise<Omit<Result, 'name'>> {
  const modelOf = (count: number) => ({ count, backlog: count, wallets: count, history: 0 });
  const timed = await measure({ ...modelOf(rows), generation: 1, ...MAINNET });
  const withIds = await measure({
    ...{ ...modelOf(Math.min(rows, GAS_ROWS)), generation: 2, blockMs: 0, confirmations: 1 },
  });
  return {
    figures: { 'fund without ids': timed, 'fund with ids': withIds },
    bars: [
      { label: 'participations settled per second, end to end', value: timed.rowsPerSecond, min: 12 },
      { label: 'gas in batches relative to single commits', value: timed.batched / timed.single, max: 0.6 },
      {
        label: 'gas in batches relative to single commits, fund with ids',
        value: withIds.batched / withIds.single,
        max: 0.7,
      },
    ],
  };
}

/** Settles the same number of rows from backlogs of different sizes, and once with many settled rows in the table. */
async function measureFlatness(): Promise<Omit<Result, 'name'>> {
  const common = { count: FLAT_ROWS, wallets: FLAT_WALLETS, generation: 1 } as const;
  const timing = { blockMs: 0, confirmations: 1 };
  const figures: Record<string, SettlementFigures> = {};
  for (const backlog of BACKLOGS)
    figures[`${backlog} rows wait`] = await measure({ ...common, ...timing, backlog, history: 0 });
  figures[`${HISTORY} rows are settled`] = await measure({
    ...{ ...common, ...timing, backlog: BACKLOGS[0] ?? 0, history: HISTORY },
  });
  const [small, ...others] = Object.entries(figures);
  const bars = others.flatMap(([name, figure]) =>
    (['serviceMsPerRow', 'databaseMsPerRow'] as const).map((cost) => ({
      label: `${cost === 'serviceMsPerRow' ? 'service' : 'database'} CPU per row if ${name}, relative to ${small?.[0]}`,
      value: (figure[cost] ?? 0) / (small?.[1][cost] ?? 1),
      max: 1.5,
    })),
  );
  return { figures, bars };
}

export async function measure(model: SettlementModel): Promise<SettlementFigures> {
  const { target, stop } = await startTarget<SettlementFigures>('./settlement-ours.ts', [
    JSON.stringify(model),
  ]);
  await stop();
  return target;
}
