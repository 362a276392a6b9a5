import type { CausewayError } from '../../error.ts';
import { useLastDefined } from '../hooks/use-last-defined.ts';
import { useQuote, useTradingStatus } from '../hooks/use-tokenized.ts';
import { Skeleton, StatusBadge } from '../ui/elements.tsx';
import { titleOf } from '../ui/error-messages.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { truncateDecimals, truncatePrice } from '../ui/format.ts';
import type { Message } from '../ui/messages.ts';
import { useUi } from '../ui/ui.tsx';

const STATUS_INTERVAL_MS = 10_000;
const QUOTE_INTERVAL_MS = 3_000;

/** Error codes that explain why the asset cannot be bought. Other codes, such as `network_error`, do not. */
const CLOSED_CODES = new Set([
  'market_closed',
  'market_paused',
  'asset_paused',
  'side_not_allowed',
  'limit_reached',
]);

/** Shows the live price of one token and whether the market is open. */
export function MarketPrice({ symbol }: { symbol: string }) {
  const { cx, format, t } = useUi();
  const { data: status, error: statusError } = useTradingStatus(
    { symbol, side: 'buy' },
    { pollIntervalMs: STATUS_INTERVAL_MS },
  );
  const isClosed = status?.tradable === false;
  // A closed market has no quotes, so none are requested until the market opens.
  const live = useQuote(
    { symbol, side: 'buy', token_amount: '1' },
    { pollIntervalMs: QUOTE_INTERVAL_MS, enabled: status?.tradable === true },
  );
  const quote = useLastDefined(live.data, symbol);
  const reason = useHaltReason(symbol, isClosed);
  const error = live.error ?? reason;
  return (
    <div className="cw-market">
      <p className="cw-market-price cw-numbers" title={quote?.price}>
        {quote !== undefined ? (
          format.usd(truncatePrice(quote.price))
        ) : error === undefined && statusError === undefined ? (
          <Skeleton width="6ch" />
        ) : (
          '–'
        )}
      </p>
      <p role="status">
        {status !== undefined ? (
          <StatusBadge tone={status.tradable ? 'good' : 'neutral'}>
            {t(status.tradable ? 'Market open' : closedTitle(reason))}
          </StatusBadge>
        ) : statusError === undefined ? (
          <Skeleton width="10ch" />
        ) : (
          <StatusBadge tone="attention">{t('Market status unavailable')}</StatusBadge>
        )}
      </p>
      <p className={cx('cw-muted cw-small cw-market-lines')}>
        {error === undefined && !isClosed
          ? t('Live price per {symbol}', { symbol })
          : quote === undefined
            ? t('No {symbol} price right now', { symbol })
            : t('Last known price per {symbol}', { symbol })}
        {status?.tradable && status.gross_max_notional_value !== null && (
          <>
            <br />
            {t('Up to {amount} or {tokens} {symbol} per order', {
              amount: format.usd(truncateDecimals(status.gross_max_notional_value, 2)),
              tokens: format.digits(truncateDecimals(status.gross_max_tokens ?? '0', 2)),
              symbol,
            })}
          </>
        )}
      </p>
    </div>
  );
}

function closedTitle(error: CausewayError | undefined): Message {
  return (CLOSED_CODES.has(error?.code ?? '') && titleOf(error?.code ?? '')) || 'Market closed';
}

/**
 * Returns the error that says why the market is closed. The trading status does not include the reason, so this hook
 * requests one quote, which fails with the reason. The requested quote's parameters differ from those of the live
 * quote, so that the cache does not return a recent price.
 */
function useHaltReason(symbol: string, isClosed: boolean): CausewayError | undefined {
  return useQuote({ symbol, side: 'buy', notional_value: '100' }, { enabled: isClosed }).error;
}

/** Explains why the asset cannot be bought and, if known, when it can be bought again. */
export function MarketNotice({ symbol, error }: { symbol: string; error: CausewayError | undefined }) {
  const { cx, format, t } = useUi();
  const { data: status } = useTradingStatus({ symbol, side: 'buy' });
  const quoteError = useHaltReason(symbol, status?.tradable === false);
  if (status?.tradable !== false) return error === undefined ? null : <ErrorNotice error={error} />;
  const until = typeof quoteError?.errors.until === 'string' ? quoteError.errors.until : null;
  return (
    <div className={cx('cw-notice cw-tone-attention')} role="status">
      <p className={cx('cw-notice-title')}>{t(closedTitle(quoteError))}</p>
      <p>
        {until === null
          ? t("You can't buy right now. We'll update this page automatically.")
          : t("You can buy again from {date}. We'll update this page automatically.", {
              date: format.dateTime(until),
            })}
      </p>
    </div>
  );
}
