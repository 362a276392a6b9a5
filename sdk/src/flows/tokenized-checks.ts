import { verifyCalldata } from '@causeway/contracts/encodings/verify-calldata.ts';
import { isCausewayError } from '../error.ts';
import type { TokenizedSwapTransaction } from '../wire.ts';
import { Stop } from './flow.ts';
import { compareToDecimal } from './money.ts';
import type { Place } from './offer-contract.ts';
import { readNode, type Session } from './session.ts';

/** What the venue refuses is told before anyone pays for an approval. */
export async function assertTradable(
  session: Session,
  symbol: string,
  { token }: Place,
  amount: bigint,
): Promise<void> {
  const { causeway, signal } = session;
  const status = await causeway.tokenized.tradingStatus({ symbol, side: 'buy' }, { signal });
  if (!status.tradable) throw await findRefusal(session, symbol);
  for (const limit of [status.gross_max_notional_value, status.gross_max_active_notional_value])
    if (limit !== null && compareToDecimal(amount, token.decimals, limit) > 0)
      throw new Stop('limit_reached', `At most ${limit} USD can be paid at the moment.`, {
        details: { limit, ...status },
      });
}

/** The status does not say why; the quote does. */
async function findRefusal({ causeway, signal }: Session, symbol: string): Promise<unknown> {
  const query = { symbol, side: 'buy', notional_value: '100' } as const;
  const refusal = await causeway.tokenized.quote(query, { signal }).then(
    () => null,
    (error: unknown) => error,
  );
  return isCausewayError(refusal) ? refusal : new Stop('market_closed', 'It cannot be bought at the moment.');
}

/** Not a signature on trust: the order is what the user asked for, and so say the chain and the bytes. */
export async function assertOrdered(
  session: Session,
  { address, assetAddress, token }: Place,
  order: TokenizedSwapTransaction,
  amount: bigint,
): Promise<void> {
  const isAsked = order.to.toLowerCase() === address && order.pay_input_amount === String(amount);
  const asked = { check: 'order', ok: isAsked, says: `pays ${order.pay_input_amount} at ${order.to}` };
  const provider = {
    request: ({ method, params }: { method: string; params?: unknown }) =>
      readNode(session, method, (params ?? []) as unknown[]),
  };
  const { findings } = await verifyCalldata(provider, {
    ...order,
    wallet: session.address,
    funding_token: token.address,
    asset: assetAddress ?? undefined,
  });
  const wrong = [asked, ...findings].filter(({ ok }) => !ok);
  if (wrong.length === 0) return;
  if (wrong.every(({ check }) => check === 'in time')) throw expired(order);
  throw new Stop('calldata_refused', 'The transaction is not what was ordered; it was not sent.', {
    details: { findings: wrong },
  });
}

/**
 * By the chain's time, and by ours unless it is wrong, which shows when the order is over by it as it comes. Then an
 * order that has run out costs nobody the price of a transaction.
 */
export async function assertInTime(
  session: Session,
  order: TokenizedSwapTransaction,
  arrivedAt: number,
): Promise<void> {
  const block = await readNode(session, 'eth_getBlockByNumber', ['latest', false]);
  const chainTime = Number((block as { timestamp: string }).timestamp) * 1000;
  const expires = Date.parse(order.expires_at);
  const isOver = arrivedAt < expires && Date.now() >= expires;
  if (chainTime > expires || isOver) throw expired(order);
}

export function expired({ expires_at }: TokenizedSwapTransaction): Stop {
  return new Stop('quote_expired', 'The order has run out; confirm it again for a new price.', {
    details: { expires_at },
  });
}
