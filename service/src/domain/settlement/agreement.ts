import { isAgreed } from '../../platform/chain/agreement.ts';
import type { SettlementRow } from './store.ts';
import type { WorkerParts } from './worker.ts';

/** How long the alert about disagreeing providers stays raised. */
const ALERT_SECONDS = 30;

/**
 * Returns whether the service may act on `verdict`, one provider's finding about these rows. If a row's amount exceeds
 * the configured limit, two independent providers must give this verdict, unless only one is configured. Until they do,
 * raises an alert and returns false, so that the rows wait. `views` has one view of the chain per provider.
 */
export async function mayEnd<View>(
  { ctx, alerts }: Pick<WorkerParts, 'ctx' | 'alerts'>,
  views: readonly View[],
  rows: readonly Pick<SettlementRow, 'amount' | 'decimals'>[],
  verdict: string,
  judge: (view: View) => Promise<string>,
): Promise<boolean> {
  const limit = BigInt(ctx.config.settlementQuorumUsd);
  if (rows.every(({ amount, decimals }) => amount <= limit * 10n ** BigInt(decimals))) return true;
  if (await isAgreed(views, verdict, judge)) return true;
  alerts.raise(
    'providers_disagree',
    `the RPC providers do not agree that the outcome is "${verdict.slice(0, 80)}"`,
    ALERT_SECONDS,
  );
  return false;
}
