import { Blocked, type BlockedReason } from '../operator/blocked.ts';
import { postponeRows, type SettlementRow } from './store.ts';
import type { WorkerParts } from './worker.ts';

const BLOCKED_FUND_DELAY_SECONDS = 5;
/**
 * An alert stays raised this much longer than its rows wait, so that it does not flicker between two
 * attempts.
 */
const ALERT_OVERLAP_SECONDS = 5;
const FUND_REASONS: ReadonlySet<BlockedReason> = new Set([
  'fund_stopped',
  'role_missing',
  'vault_frozen',
  'signer_policy',
]);

/** Postpones the rows and keeps an alert raised for at least as long. */
export async function postpone(
  { ctx, alerts }: WorkerParts,
  rows: readonly SettlementRow[],
  seconds: number,
  alert: { reason: BlockedReason; message: string },
): Promise<void> {
  alerts.raise(alert.reason, alert.message, seconds + ALERT_OVERLAP_SECONDS);
  await postponeRows(
    ctx.db,
    rows.map(({ id }) => id),
    seconds,
  );
}

/**
 * Runs `send`. Postpones the rows if their fund is stopped, its vault is frozen, the operator has lost its
 * role in the fund, or the key's policy does not list the fund. Postponed rows do not delay other funds.
 */
export async function postponeIfFundBlocked(
  worker: WorkerParts,
  rows: readonly SettlementRow[],
  send: () => Promise<number>,
): Promise<number> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof Blocked && FUND_REASONS.has(error.reason))) throw error;
    await postpone(worker, rows, BLOCKED_FUND_DELAY_SECONDS, error);
    return rows.length;
  }
}
