import type { EvmChain } from '../chain/evm/client.ts';
import type { Context } from '../context.ts';
import type { Pace } from '../operator/follow.ts';
import { dropLease, type Lease, LeaseLost } from '../operator/lease.ts';
import type { Signer } from '../operator/signer.ts';
import { SETTLEMENT_CHANNEL } from '../participations/store.ts';
import { type AlertGauges, createAlertGauges, createAlerts } from './alerts.ts';
import { createOutcomes } from './outcome.ts';
import { type Round, runRound, type Worker } from './round.ts';

export type Settlement = { stop(): Promise<void> };

/** Milliseconds until the next round, unless somebody calls. */
const PAUSES: Record<Round, number> = { busy: 0, watching: 250, idle: 2_000, away: 1_000 };
const LONGEST_PAUSE = 5_000;

export const PACE: Pace = { resend: 15, bump: 45, suspect: 60_000 };

/** Settles on every chain that the service can reach, for as long as the process lives. */
export async function startSettlement(ctx: Context, pace: Pace = PACE): Promise<Settlement> {
  const gauges = createAlertGauges(ctx.metrics.registry);
  const signer = ctx.operator;
  if (signer === null) return { stop: async () => {} };
  const loops = ctx.chains.all().map((chain) => startLoop(ctx, chain, signer, gauges, pace));
  await ctx.listener.on(SETTLEMENT_CHANNEL, (chain) => {
    for (const loop of loops) if (loop.chain === chain || chain === '') loop.wake();
  });
  ctx.listener.onRestored(() => {
    for (const loop of loops) loop.wake();
  });
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) };
}

function startLoop(ctx: Context, chain: EvmChain, signer: Signer, gauges: AlertGauges, pace: Pace) {
  const worker = createWorker(ctx, chain, signer, gauges, pace);
  let stopped = false;
  let called = false;
  let failures = 0;
  let end = () => {};

  const wake = (): void => {
    called = true;
    end();
  };
  const pause = (milliseconds: number): Promise<void> => {
    if (called || stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      called = false;
      let wait = Math.min(LONGEST_PAUSE, 250 * 2 ** failures);
      try {
        const round = await runRound(worker);
        failures = 0;
        wait = PAUSES[round];
      } catch (err) {
        failures++;
        ctx.log.warn({ err, chain: chain.name }, 'a round of settlement failed');
        // Whoever calls cannot mend what has just failed.
        called = false;
      }
      await pause(wait);
    }
  };
  const running = run();
  return {
    chain: chain.name,
    wake,
    stop: async () => {
      stopped = true;
      end();
      await running;
      await worker.giveBack();
    },
  };
}

/** The parts of one chain's rounds; also for tests, which run them by hand. */
export function createWorker(
  ctx: Context,
  chain: EvmChain,
  signer: Signer,
  gauges: AlertGauges,
  pace: Pace,
): Worker & { hold(lease: Lease | null): void; giveBack(): Promise<void> } {
  const { db, log, clock, random } = ctx;
  const alerts = createAlerts(gauges, log, chain.name);
  let held: Lease | null = null;
  return {
    ctx,
    operator: { db, log, clock, random, chain, signer, maxFee: ctx.config.operatorMaxFee },
    alerts,
    outcomes: createOutcomes(ctx, alerts),
    following: { head: null, suspectSince: null },
    pace,
    lease: () => {
      if (held === null) throw new LeaseLost();
      return held;
    },
    hold: (lease) => {
      held = lease;
    },
    giveBack: async () => {
      if (held !== null) await dropLease(db, held).catch(() => undefined);
    },
  };
}
