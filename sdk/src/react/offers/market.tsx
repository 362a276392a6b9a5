import type { CausewayError } from '../../error.ts';
import { useQuote, useTradingStatus } from '../hooks/use-chain.ts';
import { Skeleton, StatusBadge } from '../ui/elements.tsx';
import { adviseOn } from '../ui/error-messages.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { cutDecimals, formatMoment, formatPrice, formatUsd, groupDigits } from '../ui/format.ts';

/** The market is closed or paused, rather than out of reach. */
const CLOSED = new Set([
  'market_closed',
  'market_paused',
  'asset_paused',
  'side_not_allowed',
  'limit_reached',
]);

/** The price of one whole token, asked every few seconds, and the state of the market. */
export function LivePrice({ symbol }: { symbol: string }) {
  const status = useTradingStatus({ symbol, side: 'buy' }, { every: 10_000 });
  const { data: quote, error } = useQuote({ symbol, side: 'buy', token_amount: '1' }, { every: 3_000 });
  const { data } = status;
  const isClosed = data?.tradable === false;
  return (
    <div className="cw-market">
      <p className="cw-market-price cw-numbers" title={quote?.price}>
        {quote !== undefined ? (
          formatPrice(cutDecimals(quote.price, 4))
        ) : error === undefined ? (
          <Skeleton width="6ch" />
        ) : (
          '–'
        )}
      </p>
      <p role="status">
        {data !== undefined ? (
          <StatusBadge tone={data.tradable ? 'good' : 'neutral'}>
            {data.tradable ? 'Market open' : closedWords(error)}
          </StatusBadge>
        ) : status.error === undefined ? (
          <Skeleton width="10ch" />
        ) : (
          <StatusBadge tone="attention">Market unknown</StatusBadge>
        )}
      </p>
      <p className="cw-muted cw-small cw-market-lines">
        {error === undefined
          ? `Live price of one ${symbol}`
          : quote === undefined || isClosed
            ? `No price of ${symbol} right now`
            : `Last known price of one ${symbol}`}
        {data?.tradable && data.gross_max_notional_value !== null && (
          <>
            <br />
            Up to {formatUsd(cutDecimals(data.gross_max_notional_value, 2))} or{' '}
            {groupDigits(cutDecimals(data.gross_max_tokens ?? '0', 2))} {symbol} per order
          </>
        )}
      </p>
    </div>
  );
}

function closedWords(error: CausewayError | undefined): string {
  return error !== undefined && CLOSED.has(error.code) ? adviseOn(error).title : 'Market closed';
}

/** Why nothing can be bought now, and until when; the status itself does not say, the quote does. */
export function MarketNotice({ symbol, error }: { symbol: string; error: CausewayError | undefined }) {
  const { data: status } = useTradingStatus({ symbol, side: 'buy' });
  const { error: refusal } = useQuote(
    { symbol, side: 'buy', token_amount: '1' },
    { enabled: status?.tradable === false },
  );
  const why = status?.tradable === false ? refusal : error;
  if (status?.tradable !== false) return why === undefined ? null : <ErrorNotice error={why} />;
  const until = typeof why?.errors.until === 'string' ? why.errors.until : null;
  return (
    <div className="cw-notice cw-tone-attention" role="status">
      <p className="cw-notice-title">{closedWords(why)}</p>
      <p>
        {until === null
          ? 'Nothing can be bought right now. This page looks again by itself.'
          : `You can buy again from ${formatMoment(until)}. This page looks again by itself.`}
      </p>
    </div>
  );
}
