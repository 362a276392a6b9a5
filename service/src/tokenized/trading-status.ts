import { readTokenizedStatus } from '../chain/evm/tokenized-swap.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { Caller } from '../http/access.ts';
import type { Offer } from '../offers/catalogue.ts';
import { findOfferBySymbol, offerState } from '../offers/offer.ts';
import type { OfferContract } from '../offers/store.ts';
import { formatDecimal } from './decimal.ts';
import { grossUp } from './fee.ts';
import type { Side, TradingLimits } from './provider.ts';
import { orRefuse } from './refusal.ts';
import type { StatusQuery, TradingStatus } from './schema.ts';

/** Whether and how much can be traded now, fee included; spends nothing. */
export async function readTradingStatus(
  ctx: Context,
  caller: Caller,
  { symbol, side }: StatusQuery,
): Promise<TradingStatus> {
  const offer = await findOfferBySymbol(ctx, caller, symbol);
  const [limits, isRunning] = await Promise.all([
    orRefuse(ctx, symbol, ctx.venue.tradingLimits(symbol, side), 'symbol'),
    hasRunningContract(ctx, offer, side),
  ]);
  const isOffered = offerState(offer, ctx.clock.now()) === 'open';
  if (!isOffered || !isRunning || !isTradable(limits)) return restricted(side);
  const active = await readActiveLimit(ctx, symbol);
  // A sale's fee comes off what the venue pays; only a buyer pays more than the venue sees.
  const gross = (net: bigint) => formatDecimal(side === 'buy' ? grossUp(net, offer.fee_bps ?? 0) : net, 18);
  return {
    object: 'tokenized_swap_trading_status',
    side,
    tradable: true,
    gross_max_notional_value: gross(limits.maxNotional),
    gross_max_tokens: gross(limits.maxTokens),
    gross_max_active_notional_value: active === null ? null : gross(active),
  };
}

function restricted(side: Side): TradingStatus {
  return {
    object: 'tokenized_swap_trading_status',
    side,
    tradable: false,
    gross_max_notional_value: null,
    gross_max_tokens: null,
    gross_max_active_notional_value: null,
  };
}

export function isTradable({
  isOpen,
  maxNotional,
  maxTokens,
  remainingAttestations,
}: TradingLimits): boolean {
  return isOpen && maxNotional > 0n && maxTokens > 0n && remainingAttestations > 0n;
}

/** Of the session that is live now, which the venue tells elsewhere. */
async function readActiveLimit({ venue }: Context, symbol: string): Promise<bigint | null> {
  const [{ status }, sessions] = await Promise.all([venue.marketState(), venue.sessionLimits(symbol)]);
  if (status === 'paused' || status === 'closed') return null;
  return sessions[status]?.maxActiveNotional ?? null;
}

/** Whether any deployment takes this side. */
async function hasRunningContract(ctx: Context, { contracts }: Offer, side: Side): Promise<boolean> {
  const states = await Promise.all(contracts.map((contract) => isRunning(ctx, contract, side)));
  return states.some((runs) => runs);
}

/** A contract that does not tell is taken to run: a swap with it is tried before it is given out. */
export async function isRunning(ctx: Context, contract: OfferContract, side: Side): Promise<boolean> {
  const { chain, address, asset_address } = contract;
  try {
    const status = await readTokenizedStatus(ctx.chains.evm(chain), address, asset_address ?? address);
    return status[side];
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return true;
    throw error;
  }
}
