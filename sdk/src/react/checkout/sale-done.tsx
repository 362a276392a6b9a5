import { transactionUrl } from '../../chains.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import { StatusBadge } from '../ui/elements.tsx';
import { PARTICIPATION_LABELS } from '../ui/labels.ts';
import { useUi } from '../ui/ui.tsx';
import { useFocusOnMount } from '../ui/use-focus-on-mount.ts';

/** Shows a new participation and its status. */
export function SaleDone(props: {
  offer: OfferDetails;
  participation: Participation;
  /** The transactions that the wallet sent for the participation. */
  hashes: readonly string[];
  onAgain(): void;
}) {
  const { cx, format, t } = useUi();
  const { offer, participation, hashes, onAgain } = props;
  const panel = useFocusOnMount<HTMLDivElement>();
  const [tone, label, explanation] = PARTICIPATION_LABELS[participation.status];
  return (
    <div className="cw-done cw-stack cw-focused" ref={panel} tabIndex={-1}>
      <p className="cw-done-title">
        {t('{amount} in {offer}', {
          amount: `${format.digits(participation.amount_string)} ${participation.asset.code}`,
          offer: offer.name,
        })}
      </p>
      <div role="status" className="cw-stack">
        <p>
          <StatusBadge tone={tone}>{t(label)}</StatusBadge>
        </p>
        <p className={cx('cw-muted')}>{t(explanation)}</p>
      </div>
      {hashes.map((hash) => (
        <p className={cx('cw-small')} key={hash}>
          <a
            className={cx('cw-link')}
            href={transactionUrl(participation.chain, hash)}
            target="_blank"
            rel="noreferrer"
          >
            {t('View the approval in a block explorer')}
          </a>
        </p>
      ))}
      <button type="button" className={cx('cw-button')} onClick={onAgain}>
        {t(participation.status === 'failed' ? 'Try again' : 'Invest more')}
      </button>
    </div>
  );
}
