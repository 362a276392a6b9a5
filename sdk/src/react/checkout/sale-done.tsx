import { CHAINS } from '../../chains.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import { StatusBadge, TokenAmount } from '../ui/elements.tsx';
import { FactList } from '../ui/fact-list.tsx';
import { PARTICIPATION_LABELS } from '../ui/labels.ts';
import { useUi } from '../ui/ui.tsx';
import { useFocusOnMount } from '../ui/use-focus-on-mount.ts';
import { OrderTimeline, participationEvents } from './order-timeline.tsx';
import { estimateTokens } from './sale-summary.tsx';

/** The order page for a token sale: the participation, its status and its transactions. */
export function SaleDone(props: {
  offer: OfferDetails;
  option: OfferDetails['options'][number];
  participation: Participation;
  /** The transactions that the wallet sent for the participation. */
  hashes: readonly string[];
  onAgain(): void;
}) {
  const { cx, format, t } = useUi();
  const { offer, option, participation, hashes, onAgain } = props;
  const { asset, chain, status } = participation;
  const panel = useFocusOnMount<HTMLDivElement>();
  const [tone, label, explanation] = PARTICIPATION_LABELS[status];
  const paid = `${format.digits(participation.amount_string)} ${asset.code}`;
  const units = BigInt(participation.amount);
  const tokens = estimateTokens(
    { units, decimals: asset.fractional_digits },
    option.price_usd,
    offer.asset.code,
  );
  const price = option.price_usd && format.usd(option.price_usd);
  return (
    <div className="cw-done cw-stack cw-focused" ref={panel} tabIndex={-1}>
      <p className="cw-done-title">{t('{amount} in {offer}', { amount: paid, offer: offer.name })}</p>
      <div role="status" className="cw-stack">
        <p>
          <StatusBadge tone={tone}>{t(label)}</StatusBadge>
        </p>
        <p className={cx('cw-muted')}>{t(explanation)}</p>
      </div>
      <FactList
        className="cw-summary"
        facts={[
          [t(status === 'completed' ? 'You paid' : 'You pay'), paid],
          [t('Platform fee'), t('None')],
          [t('You receive about'), tokens === null ? '–' : <TokenAmount key="tokens" {...tokens} />],
          [t('Price'), price ? t('{price} per {asset}', { price, asset: offer.asset.code }) : t('Set daily')],
          [t('Network'), CHAINS[chain].name],
        ]}
      />
      <OrderTimeline chain={chain} events={participationEvents(participation, hashes.at(-1))} />
      <button type="button" className={cx('cw-button')} onClick={onAgain}>
        {t(status === 'failed' ? 'Try again' : 'Invest more')}
      </button>
    </div>
  );
}
