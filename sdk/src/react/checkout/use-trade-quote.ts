import { formatAmount, parseAmount } from '../../amounts.ts';
import { netOf } from '../../fee.ts';
import type { TokenizedOffer } from '../../offers.ts';
import { useOffer } from '../hooks/use-offers.ts';
import { useQuote, useTradingStatus } from '../hooks/use-tokenized.ts';
import { truncateDecimals } from '../ui/format.ts';
import { useAmount } from './use-amount.ts';
import { useBalance } from './use-balance.ts';
import { useDebounced } from './use-debounced.ts';
import type { Deployment } from './use-deployment.ts';

const STATUS_INTERVAL_MS = 10_000;
export const QUOTE_INTERVAL_MS = 3_000;

/**
 * Returns the amount being typed, the market's limits, the fee, and a live quote for the amount that remains after the
 * fee.
 */
export function useTradeQuote(
  offer: TokenizedOffer,
  deployment: Deployment | undefined,
  owner: string | undefined,
) {
  const { decimals, code } = deployment ?? { decimals: 0, code: '' };
  const { code: symbol, fractional_digits } = offer.asset;
  const balance = useBalance(deployment, owner);
  const feeBps = useFeeBps(offer);
  const status = useTradingStatus({ symbol, side: 'buy' }, { pollIntervalMs: STATUS_INTERVAL_MS }).data;
  const maximums = [status?.gross_max_notional_value, status?.gross_max_active_notional_value].flatMap(
    (usd) => {
      const units = parseAmount(truncateDecimals(usd ?? '', decimals), decimals);
      return usd == null || units === null ? [] : [BigInt(units)];
    },
  );
  const maximum = maximums.length === 0 ? undefined : maximums.reduce((a, b) => (b < a ? b : a));
  const limits = { decimals, code, balance, maximum };
  const amount = useAmount(limits);
  const isTradable = status?.tradable === true;
  const fee =
    amount.units === null || feeBps === undefined ? undefined : amount.units - netOf(amount.units, feeBps);
  const net = amount.units === null || fee === undefined ? undefined : (amount.units - fee).toString();
  const debouncedNet = useDebounced(net);
  const quote = useQuote(
    debouncedNet === undefined || debouncedNet === '0'
      ? null
      : { symbol, side: 'buy', notional_value: formatAmount(debouncedNet, decimals) },
    { pollIntervalMs: QUOTE_INTERVAL_MS, enabled: isTradable },
  );
  return {
    ...{ amount, limits, isTradable, fee, feeBps },
    quote:
      debouncedNet === net && (quote.data?.asset_decimals ?? fractional_digits) === fractional_digits
        ? quote
        : { ...quote, data: undefined, error: undefined },
  };
}

/** Returns the offer's fee. Loads the offer's summary if the host passed an offer without one. */
function useFeeBps(offer: TokenizedOffer): number | undefined {
  const { data } = useOffer(offer.id, { enabled: offer.summary === undefined });
  const known = offer.summary === undefined ? data : offer;
  return known && (known.summary?.fee_bps ?? 0);
}
