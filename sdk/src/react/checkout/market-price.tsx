import type { CausewayError } from '../../error.ts';
import { useQuote, useTradingStatus } from '../hooks/use-tokenized.ts';
import { Skeleton, StatusBadge } from '../ui/elements.tsx';
import { describeError } from '../ui/error-messages.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { formatDateTime, formatPrice, formatUsd, groupDigits, truncateDecimals } from '../ui/format.ts';

const STATUS_INTERVAL_MS = 10_000;
const QUOTE_INTERVAL_MS = 3_000;

/** Codes that mean the market is closed or paused, rather than unreachable. */
const CLOSED_CODES = new Set([
  'market_closed',
  'market_paused',
  'asset_paused',
  'side_not_allowed',
  'limit_reached',
]);

/** Shows the live price of one token and whether the market is open. */
export function MarketPrice({ symbol }: { symbol: string }) {
  const { data: status, error: statusError } = useTradingStatus(
    { symbol, side: 'buy' },
    { pollIntervalMs: STATUS_INTERVAL_MS },
  );
  const { data: quote, error } = useQuote(
    { symbol, side: 'buy', token_amount: '1' },
    { pollIntervalMs: QUOTE_INTERVAL_MS },
  );
  const isClosed = status?.tradable === false;
  return (
    <div className="cw-market">
      <p className="cw-market-price cw-numbers" title={quote?.price}>
        {quote !== undefined ? (
          formatPrice(truncateDecimals(quote.price, 4))
        ) : error === undefined ? (
          <Skeleton width="6ch" />
        ) : (
          '–'
        )}
      </p>
      <p role="status">
        {status !== undefined ? (
          <StatusBadge tone={status.tradable ? 'good' : 'neutral'}>
            {status.tradable ? 'Market open' : closedTitle(error)}
          </StatusBadge>
        ) : statusError === undefined ? (
          <Skeleton width="10ch" />
        ) : (
          <StatusBadge tone="attention">Market status unavailable</StatusBadge>
        )}
      </p>
      <p className="cw-muted cw-small cw-market-lines">
        {error === undefined
          ? `Live price per ${symbol}`
          : quote === undefined || isClosed
            ? `No ${symbol} price right now`
            : `Last known price per ${symbol}`}
        {status?.tradable && status.gross_max_notional_value !== null && (
          <>
            <br />
            Up to {formatUsd(truncateDecimals(status.gross_max_notional_value, 2))} or{' '}
            {groupDigits(truncateDecimals(status.gross_max_tokens ?? '0', 2))} {symbol} per order
          </>
        )}
      </p>
    </div>
  );
}

function closedTitle(error: CausewayError | undefined): string {
  return error !== undefined && CLOSED_CODES.has(error.code) ? describeError(error).title : 'Market closed';
}

/**
 * Explains why nothing can be bought and until when. Requests a quote for its error, because the trading
 * status has no reason.
 */
export function MarketNotice({ symbol, error }: { symbol: string; error: CausewayError | undefined }) {
  const { data: status } = useTradingStatus({ symbol, side: 'buy' });
  const { error: quoteError } = useQuote(
    { symbol, side: 'buy', token_amount: '1' },
    { enabled: status?.tradable === false },
  );
  if (status?.tradable !== false) return error === undefined ? null : <ErrorNotice error={error} />;
  const until = typeof quoteError?.errors.until === 'string' ? quoteError.errors.until : null;
  return (
    <div className="cw-notice cw-tone-attention" role="status">
      <p className="cw-notice-title">{closedTitle(quoteError)}</p>
      <p>
        {until === null
          ? "You can't buy right now. We'll update this page automatically."
          : `You can buy again from ${formatDateTime(until)}. We'll update this page automatically.`}
      </p>
    </div>
  );
}
