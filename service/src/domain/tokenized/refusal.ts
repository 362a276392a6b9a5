import { ApiError } from '../../kernel/errors.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import {
  type MarketState,
  type Session,
  type SessionLimit,
  VenueRefusal,
} from '../../platform/providers/venue.ts';

type Parts = Pick<Context, 'venue' | 'log'>;

/** If the venue refused, throws an API error, whose `until` says when it will accept orders again, if known. */
export async function orRefuse<T>(
  ctx: Parts,
  symbol: string,
  answer: Promise<T>,
  amountField: string,
): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof VenueRefusal ? await toApiError(ctx, symbol, error, amountField) : error;
  }
}

export async function toApiError(
  ctx: Parts,
  symbol: string,
  refusal: VenueRefusal,
  amountField: string,
): Promise<ApiError> {
  const { kind, code } = refusal;
  if (kind === 'symbol_unknown')
    return new ApiError('symbol_not_found', { reason: code }, { cause: refusal });
  if (kind === 'order_invalid')
    return new ApiError(
      'validation_failed',
      { [amountField]: [`was rejected by the venue: ${code}`] },
      { cause: refusal },
    );
  const until = await findEnd(ctx, symbol, kind).catch((err: unknown) => {
    ctx.log.warn({ err }, 'could not read when the venue will accept orders again');
    return null;
  });
  const details = { reason: code, ...(until !== null && { until: toTimestamp(until * 1000) }) };
  return new ApiError(kind, details, { cause: refusal });
}

async function findEnd({ venue }: Parts, symbol: string, kind: VenueRefusal['kind']): Promise<number | null> {
  if (kind === 'asset_paused') {
    const pauses = await venue.assetPauses();
    return pauses.find((pause) => pause.symbol === symbol)?.until ?? null;
  }
  if (kind !== 'market_closed' && kind !== 'market_paused') return null;
  return nextOpening(...(await Promise.all([venue.marketState(), venue.sessionLimits(symbol)])));
}

/** Returns when an asset that is not trading now will trade again, or null if that is unknown. */
export function nextOpening(
  { nextOpen, offhours }: MarketState,
  sessions: Partial<Record<Session, SessionLimit>>,
): number | null {
  const openings = [nextOpen, sessions.offhours?.tradable && !offhours.isOpen ? offhours.nextOpen : null];
  const known = openings.filter((time): time is number => typeof time === 'number');
  return known.length === 0 ? null : Math.min(...known);
}
