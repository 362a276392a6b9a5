import { startTarget } from './load.ts';
import type { GasFigures } from './participations-gas.ts';
import type { Options, Result } from './result.ts';

const ROWS = 10_000;
/** Ethereum's timing: a block every 12 s, and 32 blocks until a block is safe. */
const BLOCK_MS = 12_000;
const CONFIRMATIONS = 32;
/** Rows to measure on the second-generation fund (with ids), whose gas does not depend on block timing. */
const GAS_ROWS = 500;

/**
 * Settles participations of new users with Ethereum's timing. Compares the gas of batches with the gas of
 * single commits, for both generations of funds.
 */
export async function run({ rows = ROWS }: Options): Promise<Result> {
  const timed = await measure(rows, 1, BLOCK_MS, CONFIRMATIONS);
  const withIds = await measure(Math.min(rows, GAS_ROWS), 2, 0, 1);
  return {
    name: `settlement of ${rows} participations at mainnet timing`,
    figures: { 'fund without ids': timed, 'fund with ids': withIds },
    bars: [
      { label: 'participations settled per second, end to end', value: rows / timed.seconds, min: 12 },
      { label: 'gas in batches relative to single commits', value: timed.batched / timed.single, max: 0.6 },
      {
        label: 'gas in batches relative to single commits, fund with ids',
        value: withIds.batched / withIds.single,
        max: 0.7,
      },
    ],
  };
}

async function measure(...model: [number, 1 | 2, number, number]): Promise<GasFigures> {
  const { target, stop } = await startTarget('./participations-gas.ts', model.map(String));
  await stop();
  return target as unknown as GasFigures;
}
