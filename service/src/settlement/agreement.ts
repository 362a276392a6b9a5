import { isAgreed } from '../chain/evm/agreement.ts';
import type { EvmChain } from '../chain/evm/client.ts';
import type { Context } from '../context.ts';
import type { Alerts } from './alerts.ts';
import type { SettlementRow } from './store.ts';

/** How long the alert about a disagreement stays raised. */
const ALERT_SECONDS = 30;

/**
 * Returns whether a verdict may end these rows. Rows above the configured amount need two independent providers that come
 * to the same verdict; without it they wait, and an alert is raised.
 */
export async function mayEnd(
  { ctx, account: { chain }, alerts }: { ctx: Context; account: { chain: EvmChain }; alerts: Alerts },
  rows: readonly Pick<SettlementRow, 'amount' | 'decimals'>[],
  verdict: string,
  judge: (view: EvmChain) => Promise<string>,
): Promise<boolean> {
  const limit = BigInt(ctx.config.settlementQuorumUsd);
  if (rows.every(({ amount, decimals }) => amount <= limit * 10n ** BigInt(decimals))) return true;
  if (await isAgreed(chain, verdict, judge)) return true;
  const message = `the RPC providers of ${chain.name} do not agree on ${verdict.slice(0, 80)}`;
  alerts.raise('providers_disagree', message, ALERT_SECONDS);
  return false;
}
