import { formatUnits } from 'viem/utils';
import type { Caller } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { EvmContract } from '../../kernel/model/stored-offer.ts';
import { readTokenizedStatus } from '../../platform/chain/evm/tokenized-swap.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Offer } from '../../platform/context/ports.ts';
import type { Side, TradingLimits } from '../../platform/providers/venue.ts';
import { findOfferBySymbol, offerState } from '../offers/offer.ts';
import { grossUp } from './fee.ts';
import { orRefuse } from './refusal.ts';
import type { StatusQuery, TradingStatus } from './schema.ts';

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
  const tradable = isOffered && isRunning && isTradable(limits);
  if (!tradable && !(isOffered && isRunning && isClosedMarket(limits))) return notTradable(side);
  const active = tradable ? await readActiveLimit(ctx, symbol) : null;
  const withFee = (net: bigint) => formatUnits(grossUp(net, offer.fee_bps ?? 0), 18);
  // For a sell, the fee is deducted from the venue's payment instead.
  const ofSide = side === 'buy' ? withFee : (net: bigint) => formatUnits(net, 18);
  return {
    object: 'tokenized_swap_trading_status',
    side,
    tradable,
    gross_max_notional_value: ofSide(limits.maxNotional),
    gross_max_tokens: ofSide(limits.maxTokens),
    // The venue counts buys and sells together, so this limit is the same for both sides.
    gross_max_active_notional_value: active === null ? null : withFee(active),
  };
}

/** A closed market whose limits the venue still reports; the trading status then includes them. */
function isClosedMarket({ refusal, maxNotional, maxTokens }: TradingLimits): boolean {
  return refusal?.kind === 'market_closed' && maxNotional > 0n && maxTokens > 0n;
}

function notTradable(side: Side): TradingStatus {
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

/** Reads the limit of the current trading session, which the venue reports through a separate endpoint. */
async function readActiveLimit({ venue }: Context, symbol: string): Promise<bigint | null> {
  const [{ status }, sessions] = await Promise.all([venue.marketState(), venue.sessionLimits(symbol)]);
  if (status === 'paused' || status === 'closed') return null;
  return sessions[status]?.maxActiveNotional ?? null;
}

async function hasRunningContract(ctx: Context, { contracts }: Offer, side: Side): Promise<boolean> {
  const readable = contracts.filter(({ unreadable }) => unreadable === null);
  const states = await Promise.all(readable.map((contract) => isRunning(ctx, contract as EvmContract, side)));
  return states.some((runs) => runs);
}

/** A contract without `status()` counts as running. Every swap is simulated before its calldata is issued. */
export async function isRunning(ctx: Context, contract: EvmContract, side: Side): Promise<boolean> {
  const { chain, address, asset_address } = contract;
  try {
    const status = await readTokenizedStatus(ctx.chains.evm(chain), address, asset_address ?? address);
    return status[side];
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return true;
    throw error;
  }
}
