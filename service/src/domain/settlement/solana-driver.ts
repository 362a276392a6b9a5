import type { SendingRole } from '../../kernel/config/role.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import { providerViews } from '../../platform/chain/solana/client.ts';
import type { Context } from '../../platform/context/context.ts';
import { type Heartbeat, keepKeyAlive } from '../../platform/operator/key-start.ts';
import { followReceipts, type ReceiptTimings } from '../../platform/operator/receipt-follow.ts';
import type { SolanaSigner } from '../../platform/operator/solana-signer.ts';
import { solanaApprovalReader } from '../participations/solana-approval.ts';
import type { AlertGauges } from './alerts.ts';
import { MAX_COMMIT_ROWS } from './commit.ts';
import type { SettlementDriver } from './driver.ts';
import { MAX_REFUND_ROWS } from './refund.ts';
import { keepExcluded } from './solana-exclusion.ts';
import { skipLanded } from './solana-landed.ts';
import { createReceiptHandlers } from './solana-outcome.ts';
import type { SolanaParts } from './solana-parts.ts';
import { sendCommits, sendRefunds } from './solana-send.ts';
import { createWatchState, type WatchState, watchFunds } from './solana-watch.ts';
import { createWorker, type SettlementWorker } from './worker.ts';

export type SolanaWorker = SettlementWorker & SolanaParts;

type WorkerKey = { address: string; signer: SolanaSigner | null; roles: readonly SendingRole[] };

export const RECEIPT_TIMINGS: ReceiptTimings = { resendSeconds: 2, renewSeconds: 20 };

const MAX_UNMINED_TRANSACTIONS = 400;
/**
 * The interval between rounds. Public nodes allow ten calls per second. A round makes three calls, no matter how many
 * transactions are open.
 */
const WATCH_INTERVAL_MS = 1_000;
const CAPPED_PRICE_ALERT_SECONDS = 60;

/**
 * Creates a worker that settles on a Solana cluster with one key, and sends transactions only for `roles`. Without a
 * signer, it signs nothing. It then only resends and follows the transactions that `address` has already signed.
 */
export function createSolanaWorker(
  ctx: Context,
  chain: SolanaChain,
  { address, signer, roles }: WorkerKey,
  gauges: AlertGauges,
  timings: ReceiptTimings = RECEIPT_TIMINGS,
): SolanaWorker {
  const key = { chain: chain.name, address };
  return createWorker(ctx, key, gauges, (worker) => {
    const { db, log, clock, random, config } = ctx;
    const reportCappedPrice = (message: string) =>
      worker.alerts.raise('fee_cap', message, CAPPED_PRICE_ALERT_SECONDS);
    const maxPrice = config.solanaMaxPrice;
    const account = {
      ...{ db, log, clock, random, chain, key, signer, roles, maxPrice, reportCappedPrice },
      refused: new Map(),
    };
    const watch = createWatchState();
    const isForeign = (id: string) => watch.foreignIds.has(id);
    const parts: SolanaParts = { ...worker, account, timings, isForeign, expiries: new Map() };
    return { ...parts, driver: createSolanaDriver(parts, watch) };
  });
}

function createSolanaDriver(parts: SolanaParts, watch: WatchState): SettlementDriver {
  const { account } = parts;
  const handlers = createReceiptHandlers(parts);
  const heartbeat: Heartbeat = { at: null };
  return {
    key: account.key,
    roles: account.roles,
    blockTimeSeconds: account.chain.facts.blockTimeSeconds,
    watchIntervalMs: WATCH_INTERVAL_MS,
    maxUnmined: MAX_UNMINED_TRANSACTIONS,
    transactionsPerStep: Math.max(MAX_COMMIT_ROWS, MAX_REFUND_ROWS),
    reader: () => solanaApprovalReader(account.chain),
    readers: () => providerViews(account.chain).map(solanaApprovalReader),
    // Slots are shorter than a round, so waiting for a new head would gain nothing.
    head: () => null,
    reset: () => {
      heartbeat.at = null;
      // Another node now holds the lease and may sign transactions. The stored expiries do not cover those
      // transactions, so the wait for expiry must start again.
      parts.expiries.clear();
    },
    follow: async (lease) => {
      // Looks for foreign transactions first, because nothing may be signed for a participation that one of them
      // mentions.
      if (account.signer !== null) await watchFunds(parts, watch);
      await keepKeyAlive(account, lease, heartbeat);
      return followReceipts(account, lease, parts.timings, handlers);
    },
    // Allow-lists exist on EVM chains only.
    revokeNext: async () => 0,
    skipCommitted: (rows) => skipLanded(parts, 'commit', rows),
    keepExcluded: (rows) => keepExcluded(parts, rows),
    sendCommits: (rows) => sendCommits(parts, rows),
    // These limits do not apply to final transactions. On Solana, a commit counts as settled only when it is final.
    refundableBlocks: () => ({ committedBelow: 0n, releasedBelow: 0n }),
    sendRefunds: (rows) => sendRefunds(parts, rows),
  };
}
