import type { SendingRole } from '../../kernel/config/role.ts';
import { Blocked, type BlockedReason } from '../../platform/operator/blocked.ts';
import { postponeRows, type SettlementRow } from './store.ts';
import type { SkippedFunds, WorkerParts } from './worker.ts';

const BLOCKED_FUND_DELAY_SECONDS = 5;
/**
 * How long an alert stays raised after its rows are due again or its fund is no longer skipped. Without this overlap,
 * the alert would end before the next attempt could raise it again.
 */
const ALERT_OVERLAP_SECONDS = 5;
const FUND_REASONS: ReadonlySet<BlockedReason> = new Set([
  'fund_stopped',
  'role_missing',
  'vault_frozen',
  'signer_policy',
]);

/** Postpones the rows by `seconds`, and raises an alert that lasts slightly longer. */
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
 * Runs `send`. If `send` finds that the fund is blocked, skips the fund for some seconds. A fund is blocked if it is
 * stopped, its vault is frozen, the operator has lost its role in the fund, or the key's policy does not list the fund.
 * Postponing the rows batch by batch instead would use up all steps of a round and delay other funds.
 */
export async function skipFundIfBlocked(
  parts: WorkerParts,
  role: SendingRole,
  rows: readonly SettlementRow[],
  send: () => Promise<number>,
): Promise<number> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof Blocked && FUND_REASONS.has(error.reason))) throw error;
    parts.alerts.raise(error.reason, error.message, BLOCKED_FUND_DELAY_SECONDS + ALERT_OVERLAP_SECONDS);
    skipFunds(parts, role, rows);
    return rows.length;
  }
}

/** Skips the funds of the rows for some seconds, so that other funds get a turn. */
export function skipFunds(
  { skippedFunds }: WorkerParts,
  role: SendingRole,
  rows: readonly SettlementRow[],
): void {
  const until = performance.now() + BLOCKED_FUND_DELAY_SECONDS * 1000;
  for (const { fund } of rows) skippedFunds[role].set(fund, until);
}

/** Stops skipping the funds that have been skipped for long enough. Called when a round begins. */
export function resumeSkippedFunds(skipped: SkippedFunds): void {
  const now = performance.now();
  for (const funds of Object.values(skipped))
    for (const [fund, until] of funds) if (until <= now) funds.delete(fund);
}
