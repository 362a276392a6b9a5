import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import { type AlertGauges, type Alerts, createAlerts } from './alerts.ts';
import { pauseOffers } from './pause.ts';
import type { LastPass, StoredDifference } from './reconcile-pass-store.ts';
import {
  claimPass,
  finishPass,
  listDifferences,
  listOpenTargets,
  replaceDifferences,
} from './reconcile-pass-store.ts';
import { planReconcile, type ReconcilePlan } from './reconcile-plan.ts';
import { compareTotals } from './reconcile-report.ts';
import { compareReceipts } from './reconcile-solana.ts';
import { chooseRows } from './reconcile-solana-store.ts';

/** The result of one comparison of a chain with the database. */
type Look = {
  toBlock: bigint;
  differences: StoredDifference[];
  /** The participations that were compared; null means all. */
  looked: string[] | null;
  /** The next value of `LastPass.cursor`. */
  cursor: string | null;
};
type Parts = Pick<Context, 'db' | 'log'>;

const CHECK_INTERVAL_MS = 60_000;
/** The delay before the second comparison. A difference counts only if both comparisons find it. */
const RECHECK_DELAY_MS = 10_000;
/**
 * How many participations a pass on Solana rechecks even if they have not changed. With 100,000 participations and a
 * pass every 15 minutes, each participation is rechecked about twice a day.
 */
const LOOK_BACK_ROWS = 2_000;
/** On EVM chains, a pass starts this many blocks before the last block that the previous pass compared. */
const OVERLAP_BLOCKS = 256n;

/**
 * Compares every chain with the database in the background. If several nodes run, only one of them runs each pass.
 * Returns a function that stops the comparisons.
 */
export function startReconciling(ctx: Context, gauges: AlertGauges): () => Promise<void> {
  const seconds = ctx.config.reconcileMinutes * 60;
  const evm = ctx.chains.all().map((chain) => ({ chain, look: lookAtFunds }));
  const solana = ctx.chains.allSolana().map((chain) => ({ chain, look: lookAtReceipts }));
  const alerts = new Map(
    [...evm, ...solana].map(({ chain: { name: chain } }) => [
      chain,
      createAlerts(gauges, ctx.log, { chain, address: 'reconcile' }),
    ]),
  );
  const stopping = new AbortController();
  const { signal } = stopping;
  const stop = startInterval(
    ctx,
    CHECK_INTERVAL_MS,
    'the chain could not be compared with the database',
    async () => {
      for (const { chain, look } of evm)
        await runPass(ctx, chain, look, { seconds, signal, alerts: alerts.get(chain.name) });
      for (const { chain, look } of solana)
        await runPass(ctx, chain, look, { seconds, signal, alerts: alerts.get(chain.name) });
    },
  );
  return () => {
    stopping.abort();
    return stop();
  };
}

/** Compares an EVM chain with the database, if a pass is due. */
export function reconcileFunds(ctx: Parts, chain: EvmChain, options: PassOptions): Promise<void> {
  return runPass(ctx, chain, lookAtFunds, options);
}

/** Compares a Solana cluster with the database, if a pass is due. */
export function reconcileReceipts(ctx: Parts, chain: SolanaChain, options: PassOptions): Promise<void> {
  return runPass(ctx, chain, lookAtReceipts, options);
}

/** Aborting `signal` ends the delay before the second comparison. The pass then stops and stores nothing. */
type PassOptions = {
  seconds: number;
  delayMs?: number;
  alerts?: Alerts | undefined;
  signal?: AbortSignal;
};

/**
 * Runs a pass, unless a node has started one recently. Then raises an alert for every difference that no operator has
 * accepted. Nodes that skipped the pass do this too, so that all nodes show the same alerts.
 */
async function runPass<Chain extends { name: string }>(
  ctx: Parts,
  chain: Chain,
  look: LookAt<Chain>,
  { seconds, delayMs = RECHECK_DELAY_MS, alerts, signal }: PassOptions,
): Promise<void> {
  const claimed = await claimPass(ctx.db, chain.name, seconds);
  if (claimed !== null) await compare(ctx, chain, (db) => look(db, chain, claimed), delayMs, signal);
  const open = await listDifferences(ctx.db, chain.name);
  for (const { message } of open) alerts?.raise('unreconciled', message);
  await alerts?.report(async () => open.length);
}

type LookAt<Chain> = (db: Db, chain: Chain, last: LastPass) => Promise<Look>;

/**
 * Compares a chain with the database. If there are differences, compares a second time and keeps only the differences
 * that both comparisons found. Pauses every offer with a difference that no operator has accepted. If the chain cannot
 * be read, throws and pauses nothing.
 */
async function compare(
  { db, log }: Parts,
  { name }: { name: string },
  look: (db: Db) => Promise<Look>,
  delayMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const first = await look(db);
  let confirmed: StoredDifference[] = [];
  if (first.differences.length > 0) {
    const isOver = await sleep(delayMs, true, { ...(signal && { signal }) }).catch(() => false);
    if (!isOver) return;
    const second = new Set((await look(db)).differences.map(({ key }) => key));
    confirmed = first.differences.filter(({ key }) => second.has(key));
  }
  const open = await db.transaction().execute(async (tx) => {
    await finishPass(tx, name, first);
    return replaceDifferences(tx, name, confirmed, first.looked);
  });
  for (const { offerIds, participationIds, hashes, message } of open) {
    const named = { participation_ids: participationIds, transaction_hashes: hashes };
    log.error({ chain: name, ...named }, `the chain and the database differ: ${message}`);
    await pauseOffers({ db, log }, offerIds, message);
  }
}

/**
 * Compares the database with the funds' counters, and with the events in the final blocks since the last pass. If a
 * counter differs, compares all events since our first transaction, to find out which rows are wrong.
 */
async function lookAtFunds(db: Db, chain: EvmChain, { toBlock: after }: LastPass): Promise<Look> {
  const from = after === null || after < OVERLAP_BLOCKS ? 'first' : after - OVERLAP_BLOCKS;
  const plan = await planReconcile(db, chain, from);
  const totals = await findWrongTotals(db, chain, plan);
  if (totals.length === 0 || from === 'first') return toLook(plan, totals);
  const whole = await planReconcile(db, chain, 'first');
  return toLook(whole, await findWrongTotals(db, chain, whole));
}

function toLook(plan: ReconcilePlan, totals: readonly StoredDifference[]): Look {
  const matched = plan.differences.map(({ offerIds, participationIds, hashes, message }) =>
    withKey({ offerIds, participationIds, hashes, message }),
  );
  const lost = plan.lost.map(({ hash, to, kind, rowIds }) => {
    const offerIds = plan.funds.find(({ fund }) => fund === to)?.offerIds ?? [];
    const message = `the ${kind} ${hash} is not in the database; run "causeway operator reconcile ${plan.chain}"`;
    return withKey({ offerIds, participationIds: rowIds, hashes: [hash], message });
  });
  const named = [...matched, ...lost];
  const differences = named.length > 0 ? named : [...totals];
  return { toBlock: plan.toBlock, differences, looked: null, cursor: null };
}

/**
 * Compares the funds' counters with the database. Skips funds with open transactions, because their counters may
 * already include transactions that the database does not count yet.
 */
async function findWrongTotals(db: Db, chain: EvmChain, plan: ReconcilePlan): Promise<StoredDifference[]> {
  const busy = await listOpenTargets(db, chain.name);
  const found: StoredDifference[] = [];
  for (const booked of plan.booked) {
    if (busy.has(booked.fund)) continue;
    const { agrees, chain: onChain, database } = await compareTotals(chain, plan, booked);
    if (agrees) continue;
    const message = `the fund ${booked.fund} counts ${JSON.stringify(onChain)} of ${booked.token}, but the database counts ${JSON.stringify(database)}`;
    const offerIds = plan.funds.find(({ fund }) => fund === booked.fund)?.offerIds ?? [];
    found.push(withKey({ offerIds, participationIds: [], hashes: [], message }));
  }
  return found;
}

/**
 * Compares the participations that have changed since the last pass. Tampering with a row does not mark it as changed,
 * so each pass also compares the next `LOOK_BACK_ROWS` participations. Over time, the passes cover all participations.
 * The first pass compares all participations.
 */
async function lookAtReceipts(db: Db, chain: SolanaChain, { finishedAt, cursor }: LastPass): Promise<Look> {
  const chosen =
    finishedAt === null
      ? { ids: null, cursor: null }
      : await chooseRows(db, chain.name, { since: finishedAt, cursor, limit: LOOK_BACK_ROWS });
  const { slot, differences } = await compareReceipts(db, chain, chosen.ids);
  return {
    toBlock: slot,
    looked: chosen.ids,
    cursor: chosen.cursor,
    differences: differences.map(({ offerIds, participation_ids, transaction_hashes, message }) =>
      withKey({ offerIds, participationIds: participation_ids, hashes: transaction_hashes, message }),
    ),
  };
}

/** Identifies a difference by its message, so that a difference counts as new when its amounts change. */
function withKey(difference: Omit<StoredDifference, 'key'>): StoredDifference {
  return { ...difference, key: createHash('sha256').update(difference.message).digest('hex') };
}
