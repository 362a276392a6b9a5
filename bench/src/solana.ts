import type { Options, Result } from './result.ts';
import type { SolanaFigures } from './solana-settlement.ts';
import { startTarget } from './target.ts';

const ROWS = 1_000;

/**
 * Measures the verification and settlement of participations on Solana. A slot takes 400 ms, and a block becomes final
 * after 31 slots.
 */
export async function run({ rows = ROWS }: Options): Promise<Result> {
  const { target, stop } = await startTarget<SolanaFigures>('./solana-settlement.ts', [String(rows)]);
  await stop();
  return {
    name: `settlement of ${rows} participations on Solana`,
    figures: { ...target },
    bars: [
      { label: 'approvals verified per CPU second', value: target.verifiedPerCpuSecond, min: 200 },
      { label: 'participations settled per CPU second', value: target.settledPerCpuSecond, min: 50 },
      { label: 'participations settled per second, end to end', value: target.settledPerSecond, min: 10 },
      { label: 'RPC calls per settled participation', value: target.rpcCallsPerRow, max: 12 },
    ],
  };
}
