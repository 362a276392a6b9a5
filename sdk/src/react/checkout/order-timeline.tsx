import { transactionUrl } from '../../chains.ts';
import type { Chain, Participation } from '../../wire.ts';
import type { Message } from '../ui/messages.ts';
import { useUi } from '../ui/ui.tsx';

export type OrderEvent = {
  name: Message;
  state: 'past' | 'now' | 'stopped';
  /** When the event happened, as an ISO timestamp. */
  at?: string | undefined;
  /** The hash of the event's transaction. */
  hash?: string | null | undefined;
};

/** Shows what happened to an order, with links to its transactions in a block explorer. */
export function OrderTimeline({ chain, events }: { chain: Chain; events: readonly OrderEvent[] }) {
  const { cx, format, t } = useUi();
  return (
    <ol className={cx('cw-timeline')}>
      {events.map(({ name, state, at, hash }) => (
        <li key={name} className={cx(`cw-event cw-step-${state}`)}>
          <span className="cw-step-mark" aria-hidden="true">
            {state === 'past' ? '✓' : state === 'stopped' ? '!' : '…'}
          </span>
          <span className="cw-grow">
            <span className={cx('cw-strong')}>{t(name)}</span>
            {at !== undefined && <span className={cx('cw-muted cw-small')}> {format.dateTime(at)}</span>}
            {hash && (
              <a
                className={cx('cw-link cw-small cw-hash')}
                href={transactionUrl(chain, hash)}
                target="_blank"
                rel="noreferrer"
                title={hash}
              >
                {`${hash.slice(0, 10)}…${hash.slice(-8)}`}
              </a>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Returns a participation's events so far. */
export function participationEvents(
  participation: Participation,
  approval?: string | undefined,
): OrderEvent[] {
  const { status, inserted_at, updated_at, transactions } = participation;
  const { commit_hash, remit_hash } = transactions ?? {};
  const isApproved = status !== 'prepared' && (status !== 'failed' || commit_hash != null);
  const events: OrderEvent[] = [
    {
      name: isApproved ? 'Approval confirmed' : 'Approval sent',
      ...{ state: status === 'failed' && !isApproved ? 'stopped' : 'past', at: inserted_at },
      hash: transactions?.approval_hash ?? approval,
    },
  ];
  const isRefund = status.startsWith('remit');
  if (status === 'pending' || status === 'submitted')
    events.push({ name: 'Collecting the payment', state: 'now', hash: commit_hash });
  if (status === 'completed' || isRefund)
    events.push({
      ...{ name: 'Payment collected', state: 'past', hash: commit_hash },
      at: isRefund ? undefined : updated_at,
    });
  if (status === 'failed')
    events.push({ name: 'Not completed', state: 'stopped', at: updated_at, hash: commit_hash });
  if (status === 'remit_submitted' || status === 'remit_failed')
    events.push({ name: 'Refund on its way', state: 'now', hash: remit_hash });
  if (status === 'remitted')
    events.push({ name: 'Refunded', state: 'past', at: updated_at, hash: remit_hash });
  return events;
}
