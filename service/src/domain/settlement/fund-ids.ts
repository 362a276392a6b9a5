import { readFundGeneration, readIdState } from '../../platform/chain/evm/sale-fund.ts';
import type { Context } from '../../platform/context/context.ts';
import type { OperatorAccount } from '../../platform/operator/account.ts';
import type { Alerts } from './alerts.ts';
import type { EvmRow } from './evm-parts.ts';
import { pauseOffers } from './pause.ts';

type Parts = { ctx: Pick<Context, 'db' | 'log'>; account: Pick<OperatorAccount, 'chain'>; alerts: Alerts };

/** How long the alert lasts after it is raised. */
const ALERT_SECONDS = 30;

/**
 * Returns the rows that the fund has not committed yet, or all rows if the fund does not store participation ids. If
 * the fund has committed a pending row, this database has lost the transaction, for example in a restore. The row's
 * offer is then paused until an operator adopts the transaction with `causeway operator reconcile` and resumes the
 * offer.
 */
export function keepUncommitted(parts: Parts, rows: EvmRow[]): Promise<EvmRow[]> {
  return keepUnknown(parts, 'isCommitted', rows);
}

/** Returns the rows that the fund has not refunded yet; see `keepUncommitted`. */
export function keepUnrefunded(parts: Parts, rows: EvmRow[]): Promise<EvmRow[]> {
  return keepUnknown(parts, 'isRemitted', rows);
}

/**
 * Returns whether the fund has settled none of these rows, or does not store participation ids. Called for rows that a
 * mined transaction did not settle: false means that another transaction has settled one of them.
 */
export async function areUnknownToFund(
  parts: Parts,
  kind: 'commit' | 'remit',
  rows: EvmRow[],
): Promise<boolean> {
  const unknown = await keepUnknown(parts, kind === 'commit' ? 'isCommitted' : 'isRemitted', rows);
  return unknown.length === rows.length;
}

async function keepUnknown(
  { ctx, account: { chain }, alerts }: Parts,
  state: 'isCommitted' | 'isRemitted',
  rows: EvmRow[],
): Promise<EvmRow[]> {
  const [first] = rows;
  if (first === undefined || (await readFundGeneration(chain, first.fund)) === 1) return rows;
  const known = await readIdState(chain, first.fund, state, rows);
  if (known.length === 0) return rows;
  const message = `the fund ${first.fund} on ${chain.name} has ${state === 'isCommitted' ? 'committed' : 'refunded'} ${known.length} participations in transactions that this database does not know; run "causeway operator reconcile ${chain.name}"`;
  alerts.raise('unreconciled', message, ALERT_SECONDS);
  await pauseOffers(ctx, [...new Set(known.map(({ offerId }) => offerId))], message);
  return rows.filter((row) => !known.includes(row));
}
