import { formatAmount, parseAmount } from '../../amounts.ts';
import { useQuote, useTradingStatus } from '../hooks/use-tokenized.ts';
import { truncateDecimals } from '../ui/format.ts';
import { useAmount } from './use-amount.ts';
import { useBalance } from './use-balance.ts';
import { useDebounced } from './use-debounced.ts';
import type { Deployment } from './use-deployment.ts';

const STATUS_INTERVAL_MS = 10_000;
const QUOTE_INTERVAL_MS = 3_000;

/** Returns the amount being typed, the market's limits, and a live quote for the amount. */
export function useTradeQuote(symbol: string, deployment: Deployment | undefined, owner: string | undefined) {
  const { decimals, code } = deployment ?? { decimals: 0, code: '' };
  const balance = useBalance(deployment, owner);
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
  const units = amount.units?.toString();
  const debouncedUnits = useDebounced(units);
  const quote = useQuote(
    debouncedUnits === undefined
      ? null
      : { symbol, side: 'buy', notional_value: formatAmount(debouncedUnits, decimals) },
    { pollIntervalMs: QUOTE_INTERVAL_MS },
  );
  return {
    ...{ amount, limits, isTradable: status?.tradable === true },
    quote: debouncedUnits === units ? quote : { ...quote, data: undefined, error: undefined },
  };
}
