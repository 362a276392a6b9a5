import { formatUnits } from 'viem/utils';
import type { TokenizedSwapTransaction } from '../wire.ts';
import { FlowFailure } from './flow.ts';
import { minimumAfterSlippage, parseSmallestUnits } from './money.ts';
import type { Deployment } from './offer-contract.ts';
import type { Session } from './session.ts';
import { mismatch } from './token-checks.ts';

type Limits = {
  offer: { asset: { fractional_digits: number } };
  amount: string | bigint;
  minReceive?: string | bigint | undefined;
  maxSlippageBps?: number | undefined;
  quoted?: string | bigint | undefined;
};

/** Throws `invalid_input` unless the input sets a minimum to receive or a maximum slippage. */
export function assertLimitsSlippage({ minReceive, maxSlippageBps, quoted }: Omit<Limits, 'offer'>): void {
  if (minReceive !== undefined) parseSmallestUnits(minReceive, 'minReceive');
  if (quoted !== undefined) parseSmallestUnits(quoted, 'quoted');
  if (maxSlippageBps !== undefined) minimumAfterSlippage(0n, maxSlippageBps);
  else if (minReceive === undefined)
    throw new FlowFailure('invalid_input', 'minReceive or maxSlippageBps is required.');
}

/** Returns a function that computes the minimum amount of tokens to accept for an order. */
export async function readMinimum(
  session: Session,
  symbol: string,
  { token }: Deployment,
  limits: Limits,
): Promise<(order: TokenizedSwapTransaction) => bigint> {
  const { minReceive, maxSlippageBps } = limits;
  const floor = minReceive === undefined ? 1n : BigInt(minReceive);
  if (maxSlippageBps === undefined) return () => floor;
  const quoted = BigInt(limits.quoted ?? (await readQuote(session, symbol, token.decimals, limits)));
  return (order) => {
    const minimum = minReceivedForOrder(order, quoted, maxSlippageBps);
    return minimum > floor ? minimum : floor;
  };
}

async function readQuote(
  { causeway, signal }: Session,
  symbol: string,
  decimals: number,
  { amount, offer }: Limits,
): Promise<string> {
  const query = { symbol, side: 'buy', notional_value: formatUnits(BigInt(amount), decimals) } as const;
  const quote = await causeway.tokenized.quote(query, { signal });
  if (quote.asset_decimals !== offer.asset.fractional_digits)
    throw mismatch(quote.asset_address, { decimals: quote.asset_decimals });
  return quote.token_base_units;
}

/**
 * Returns the minimum amount of tokens to accept. `quoted` is for the whole payment, but the fee is deducted before
 * tokens are bought, so `quoted` is scaled down accordingly.
 */
export function minReceivedForOrder(
  { notional_value, pay_input_amount }: Pick<TokenizedSwapTransaction, 'notional_value' | 'pay_input_amount'>,
  quoted: bigint,
  slippageBps: number,
): bigint {
  const scaled = quoted * BigInt(notional_value) * BigInt(10_000 - slippageBps);
  return scaled / (BigInt(pay_input_amount) * 10_000n);
}
