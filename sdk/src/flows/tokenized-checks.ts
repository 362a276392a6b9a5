import type { Finding } from '@causeway/contracts/encodings/verify-calldata.ts';
import { isCausewayError } from '../error.ts';
import type { OfferDetails, TokenizedSwapTransaction } from '../wire.ts';
import { FlowFailure } from './flow.ts';
import { compareToDecimal } from './money.ts';
import type { Deployment } from './offer-contract.ts';
import { readNode, type Session } from './session.ts';
import { assertDescribed, mismatch } from './token-checks.ts';
import { pinsOf } from './trusted.ts';
import { verifyCalldata } from './verify-calldata.ts';

/**
 * Throws `token_mismatch` if the offer's contract has no asset address, if the asset's decimals on chain differ from
 * the offer's, or if its symbol on chain differs from `symbol`. Skips any value that the asset does not report. Later,
 * `assertMatchesOrder` checks that the order is for this asset.
 */
export async function assertAsset(
  session: Session,
  { asset }: OfferDetails,
  { address, assetAddress }: Deployment,
  symbol: string,
): Promise<void> {
  if (assetAddress === null) throw mismatch(address, { symbol, actual: null });
  await assertDescribed(session, { address: assetAddress, decimals: asset.fractional_digits, symbol });
}

/** Checks the venue's status and limits before the user pays for an approval. */
export async function assertTradable(
  session: Session,
  symbol: string,
  { token }: Deployment,
  amount: bigint,
): Promise<void> {
  const { causeway, signal } = session;
  const status = await causeway.tokenized.tradingStatus({ symbol, side: 'buy' }, { signal });
  if (!status.tradable) throw await findHaltReason(session, symbol);
  for (const limit of [status.gross_max_notional_value, status.gross_max_active_notional_value])
    if (limit !== null && compareToDecimal(amount, token.decimals, limit) > 0)
      throw new FlowFailure('limit_reached', `The current limit is ${limit} USD. Lower the amount.`, {
        details: { limit, ...status },
      });
}

/**
 * Returns the error to throw while trading is halted. The trading status does not include the reason for the halt, so
 * this function requests a quote, which fails with the reason.
 */
async function findHaltReason({ causeway, signal }: Session, symbol: string): Promise<unknown> {
  const query = { symbol, side: 'buy', notional_value: '100' } as const;
  const error = await causeway.tokenized.quote(query, { signal }).then(
    () => null,
    (reason: unknown) => reason,
  );
  return isCausewayError(error)
    ? error
    : new FlowFailure('market_closed', `${symbol} cannot be bought right now.`);
}

/** Checks the calldata against the user's order and against the chain, so that the user need not trust the service. */
export async function assertMatchesOrder(
  session: Session,
  { asset }: OfferDetails,
  { address, assetAddress, token }: Deployment,
  order: TokenizedSwapTransaction,
  amount: bigint,
): Promise<void> {
  const isOrdered =
    order.to.toLowerCase() === address &&
    order.pay_input_amount === String(amount) &&
    order.pay_input_decimals === token.decimals &&
    order.receive_output_decimals === asset.fractional_digits;
  const ordered: Finding = {
    check: 'order',
    ok: isOrdered,
    description: `pays ${order.pay_input_amount} to ${order.to}`,
  };
  const provider = {
    request: ({ method, params }: { method: string; params?: unknown }) =>
      readNode(session, method, (params ?? []) as unknown[]),
  };
  const { findings } = await verifyCalldata(provider, {
    ...order,
    ...pinsOf(session.trusted, session.chain),
    wallet: session.address,
    funding_token: token.address,
    asset: assetAddress ?? undefined,
  });
  const failed = [ordered, ...findings].filter(({ ok }) => !ok);
  if (failed.length === 0) return;
  if (failed.every(({ check }) => check === 'in time')) throw quoteExpired(order);
  throw new FlowFailure('calldata_refused', 'The calldata does not match the order, so it was not sent.', {
    details: { findings: failed },
  });
}

/**
 * Throws `quote_expired` if the order has expired, so that nobody pays for a transaction that would revert. Checks both
 * the latest block's timestamp and this machine's clock. If the clock was already past the expiry when the order
 * arrived, the clock is wrong and is ignored.
 */
export async function assertNotExpired(
  session: Session,
  order: TokenizedSwapTransaction,
  arrivedAt: number,
): Promise<void> {
  const block = await readNode(session, 'eth_getBlockByNumber', ['latest', false]);
  const chainTime = Number((block as { timestamp: string }).timestamp) * 1000;
  const expiresAt = Date.parse(order.expires_at);
  const isExpiredHere = arrivedAt < expiresAt && Date.now() >= expiresAt;
  if (chainTime > expiresAt || isExpiredHere) throw quoteExpired(order);
}

export function quoteExpired({ expires_at }: TokenizedSwapTransaction): FlowFailure {
  return new FlowFailure('quote_expired', 'The order has expired.', {
    details: { expires_at },
  });
}
