import { SENDING_ROLES, type SendingRole } from '../../kernel/config/role.ts';
import { plural } from '../../kernel/plural.ts';
import type { Context } from '../../platform/context/context.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import type { FollowTimings } from '../../platform/operator/follow.ts';
import type { ReceiptTimings } from '../../platform/operator/receipt-follow.ts';
import { findRemoteAddress, listSenders } from '../../platform/operator/signers.ts';
import { SETTLEMENT_CHANNEL } from '../holdings/wake.ts';
import { type AlertGauges, createAlertGauges, createAlerts } from './alerts.ts';
import { countUnsettled } from './backlog-store.ts';
import { createEvmWorker } from './evm-driver.ts';
import { reportMissingRoles } from './fund-roles.ts';
import { registerSettlementGauges } from './gauges.ts';
import { registerKeyGauges } from './key-gauges.ts';
import { startReconciling } from './reconcile-pass.ts';
import { assertChainsFollowed, listRetiredSolanaWorkers, listRetiredWorkers } from './retired-keys.ts';
import { followRetired, followWithoutKey, type Round, runRound } from './round.ts';
import { createSolanaWorker, RECEIPT_TIMINGS } from './solana-driver.ts';
import type { SettlementWorker } from './worker.ts';

export type Settlement = { stop(): Promise<void> };

/** Delay until the next round, unless a notification wakes the worker earlier. */
const ROUND_DELAY_MS: Record<Exclude<Round, 'watching'>, number> = { busy: 0, idle: 2_000, away: 1_000 };
const FIRST_RETRY_DELAY_MS = 250;
const MAX_RETRY_DELAY_MS = 5_000;
const MISSING_KEY_INTERVAL_MS = 15_000;

export const FOLLOW_TIMINGS: FollowTimings = {
  resendSeconds: 15,
  bumpSeconds: 45,
  bumpBlocks: 2n,
  nonceGraceMs: 60_000,
};

/**
 * Starts a settlement worker for each configured chain and operator key of this process, and compares the chains with
 * the database in the background.
 */
export async function startSettlement(
  ctx: Context,
  timings: FollowTimings = FOLLOW_TIMINGS,
  receiptTimings: ReceiptTimings = RECEIPT_TIMINGS,
): Promise<Settlement> {
  await assertChainsFollowed(ctx);
  const gauges = createAlertGauges(ctx.metrics.registry);
  const chains = [...ctx.chains.all(), ...ctx.chains.allSolana()].map(({ name }) => name);
  registerSettlementGauges(ctx, chains);
  registerKeyGauges(ctx);
  const loops = [
    ...(await startEvm(ctx, gauges, timings)),
    ...(await startSolana(ctx, gauges, receiptTimings)),
  ];
  await ctx.listener.on(SETTLEMENT_CHANNEL, (chain) => {
    for (const loop of loops) if (loop.chain === chain || chain === '') loop.wake();
  });
  ctx.listener.onRestored(() => {
    for (const loop of loops) loop.wake();
  });
  const stopReconciling = startReconciling(ctx, gauges);
  const checkingRoles = reportMissingRoles(ctx);
  const stopReports = await reportMissingKeys(ctx, gauges, listUnserved(ctx));
  return {
    stop: async () => {
      await Promise.all([
        ...loops.map((loop) => loop.stop()),
        ...[stopReconciling(), stopReports(), checkingRoles],
      ]);
    },
  };
}

/**
 * Returns the chains on which the commit role or the refund role has no key on any node. Ignores replaced keys, because
 * they send nothing new.
 */
function listUnserved({ chains, signerOf, solanaSignerOf, config }: Context): string[] {
  const lackKey =
    (keyOf: (role: SendingRole, chain: string) => unknown) =>
    ({ name }: { name: string }) =>
      SENDING_ROLES.some((role) => (keyOf(role, name) ?? findRemoteAddress(config, role, name)) === null);
  const unserved = [
    ...chains.all().filter(lackKey(signerOf)),
    ...chains.allSolana().filter(lackKey(solanaSignerOf)),
  ];
  return unserved.map(({ name }) => name);
}

/** Raises an alert while participations wait on one of `chains`, which lack an operator key. */
async function reportMissingKeys(
  ctx: Context,
  gauges: AlertGauges,
  chains: readonly string[],
): Promise<() => Promise<void>> {
  if (chains.length === 0) return async () => undefined;
  const alerts = new Map(
    chains.map((chain) => [chain, createAlerts(gauges, ctx.log, { chain, address: '' })]),
  );
  const report = async () => {
    for (const [chain, each] of alerts) {
      const count = await countUnsettled(ctx.db, chain);
      if (count > 0)
        each.raise(
          'operator_key_missing',
          `${plural(count, 'unsettled participation')} on ${chain}, which lacks a commit or refund key`,
        );
      await each.report(async () => count);
    }
  };
  await report();
  return startInterval(ctx, MISSING_KEY_INTERVAL_MS, 'settlement report failed', report);
}

async function startEvm(ctx: Context, gauges: AlertGauges, timings: FollowTimings) {
  const workers = ctx.chains
    .all()
    .flatMap((chain) =>
      listSenders(ctx.signerOf, chain.name).map(({ signer, roles }) =>
        createEvmWorker(ctx, chain, signer, gauges, timings, roles),
      ),
    );
  const retired = await listRetiredWorkers(ctx, gauges, timings);
  return [
    ...workers.map((worker) => startLoop(worker, runRound)),
    ...retired.map((worker) => startLoop(worker, followRetired)),
  ];
}

async function startSolana(ctx: Context, gauges: AlertGauges, timings: ReceiptTimings) {
  const retired = await listRetiredSolanaWorkers(ctx, gauges);
  const workers = ctx.chains
    .allSolana()
    .flatMap((chain) =>
      listSenders(ctx.solanaSignerOf, chain.name).map(({ signer, roles }) =>
        createSolanaWorker(ctx, chain, { address: signer.address, signer, roles }, gauges, timings),
      ),
    );
  return [
    ...workers.map((worker) => startLoop(worker, runRound)),
    ...retired.map((worker) => startLoop(worker, followWithoutKey)),
  ];
}

function startLoop(worker: SettlementWorker, runRound: (worker: SettlementWorker) => Promise<Round>) {
  const { ctx } = worker;
  const { chain } = worker.driver.key;
  let stopped = false;
  let woken = false;
  let failures = 0;
  let endDelay = () => {};

  const wake = (): void => {
    woken = true;
    endDelay();
  };
  const delay = (milliseconds: number): Promise<void> => {
    if (woken || stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      endDelay = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      woken = false;
      let delayMs = Math.min(MAX_RETRY_DELAY_MS, FIRST_RETRY_DELAY_MS * 2 ** failures);
      try {
        const round = await runRound(worker);
        delayMs = round === 'watching' ? worker.driver.watchIntervalMs : ROUND_DELAY_MS[round];
        failures = 0;
      } catch (err) {
        failures++;
        ctx.log.warn({ err, chain }, 'settlement round failed');
        // Waits for the full delay, even if a notification arrived during the round: new work does not fix the failure.
        woken = false;
      }
      await delay(delayMs);
    }
  };
  const running = run();
  return {
    chain,
    wake,
    stop: async () => {
      stopped = true;
      endDelay();
      await running;
      await worker.release();
    },
  };
}
