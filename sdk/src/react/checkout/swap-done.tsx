import { CHAINS } from '../../chains.ts';
import type { SwapResult } from '../../flows/outcome.ts';
import type { Chain } from '../../wire.ts';
import { StatusBadge, TokenAmount } from '../ui/elements.tsx';
import { FactList } from '../ui/fact-list.tsx';
import { truncatePrice } from '../ui/format.ts';
import { useUi } from '../ui/ui.tsx';
import { useFocusOnMount } from '../ui/use-focus-on-mount.ts';
import { priceOf } from './order-math.ts';
import { type OrderEvent, OrderTimeline } from './order-timeline.tsx';

type Unit = { code: string; decimals: number };

/**
 * The order page for a swap. Shows the result, as read from the events of the swap's transaction, and links to the
 * transactions.
 */
export function SwapDone(props: {
  result: SwapResult;
  paid: Unit & { chain: Chain };
  received: Unit;
  /** The transactions that the wallet sent; the last one is the swap. */
  hashes: readonly string[];
  onAgain(): void;
}) {
  const { cx, format, t } = useUi();
  const { result, paid, received, hashes, onAgain } = props;
  const panel = useFocusOnMount<HTMLDivElement>();
  const approval = hashes.find((hash) => hash !== result.transactionHash);
  const events: OrderEvent[] = [
    ...(approval === undefined
      ? []
      : [{ name: 'Approval confirmed' as const, state: 'past' as const, hash: approval }]),
    { name: 'Purchase confirmed', state: 'past', hash: result.transactionHash },
  ];
  const price = priceOf(
    { units: result.paid - result.fee, decimals: paid.decimals },
    { units: result.received, decimals: received.decimals },
  );
  return (
    <div className="cw-done cw-stack cw-focused" ref={panel} tabIndex={-1}>
      <div role="status" className="cw-stack">
        <p>
          <StatusBadge tone="good">{t('Completed')}</StatusBadge>
        </p>
        <p className="cw-done-title" title={format.tokenAmount(result.received, received)}>
          {t('You received {amount}', { amount: format.shortAmount(result.received, received) })}
        </p>
      </div>
      <FactList
        className="cw-summary"
        facts={[
          [t('You paid'), format.tokenAmount(result.paid, paid)],
          [t('Fee included'), <TokenAmount key="fee" units={result.fee} unit={paid} />],
          [
            t('Price'),
            <span key="price" title={`${format.digits(price)} ${paid.code}`}>
              {t('{price} per {asset}', {
                price: `${format.digits(truncatePrice(price))} ${paid.code}`,
                asset: received.code,
              })}
            </span>,
          ],
          [t('Network'), CHAINS[paid.chain].name],
        ]}
      />
      <OrderTimeline chain={paid.chain} events={events} />
      <button type="button" className={cx('cw-button')} onClick={onAgain}>
        {t('Buy more')}
      </button>
    </div>
  );
}
