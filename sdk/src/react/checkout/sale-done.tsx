import { transactionUrl } from '../../chains.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import { useParticipation } from '../hooks/use-user.ts';
import { StatusBadge } from '../ui/elements.tsx';
import { groupDigits } from '../ui/format.ts';
import { isInProgress, PARTICIPATION_LABELS } from '../ui/labels.ts';
import { useFocusOnMount } from '../ui/use-focus-on-mount.ts';

const POLL_INTERVAL_MS = 2_500;

/** Shows a new participation and its live status. */
export function SaleDone(props: {
  offer: OfferDetails;
  participation: Participation;
  /** The transactions that the wallet sent for the participation. */
  hashes: readonly string[];
  onAgain(): void;
}) {
  const { offer, participation, hashes, onAgain } = props;
  const panel = useFocusOnMount<HTMLDivElement>();
  const { data = participation } = useParticipation(participation.id);
  useParticipation(participation.id, {
    pollIntervalMs: POLL_INTERVAL_MS,
    enabled: isInProgress(data.status),
  });
  const [tone, label, explanation] = PARTICIPATION_LABELS[data.status];
  return (
    <div className="cw-done cw-stack cw-focused" ref={panel} tabIndex={-1}>
      <p className="cw-done-title">
        {groupDigits(data.amount_string)} {data.asset.code} in {offer.name}
      </p>
      <div role="status" className="cw-stack">
        <p>
          <StatusBadge tone={tone}>{label}</StatusBadge>
        </p>
        <p className="cw-muted">{explanation}</p>
      </div>
      {hashes.map((hash) => (
        <p className="cw-small" key={hash}>
          <a className="cw-link" href={transactionUrl(data.chain, hash)} target="_blank" rel="noreferrer">
            View the approval in a block explorer
          </a>
        </p>
      ))}
      <button type="button" className="cw-button" onClick={onAgain}>
        {data.status === 'failed' ? 'Try again' : 'Invest more'}
      </button>
    </div>
  );
}
