import type { SwapResult } from '../../flows/outcome.ts';
import { StatusBadge } from '../ui/elements.tsx';
import { FactList } from '../ui/fact-list.tsx';
import { useUi } from '../ui/ui.tsx';
import { useFocusOnMount } from '../ui/use-focus-on-mount.ts';
import { TransactionHash } from './flow-panel.tsx';

type Unit = { code: string; decimals: number };

/** Shows the result of a swap, taken from the events of its transaction. */
export function SwapDone(props: { result: SwapResult; paid: Unit; received: Unit; onAgain(): void }) {
  const { cx, format, t } = useUi();
  const { result, paid, received, onAgain } = props;
  const panel = useFocusOnMount<HTMLDivElement>();
  return (
    <div className="cw-done cw-stack cw-focused" ref={panel} tabIndex={-1}>
      <div role="status" className="cw-stack">
        <p>
          <StatusBadge tone="good">{t('Completed')}</StatusBadge>
        </p>
        <p className="cw-done-title">
          {t('You received {amount}', { amount: format.tokenAmount(result.received, received) })}
        </p>
      </div>
      <FactList
        className="cw-summary"
        facts={[
          [t('You paid'), format.tokenAmount(result.paid, paid)],
          [t('Fee included'), format.tokenAmount(result.fee, paid)],
        ]}
      />
      <TransactionHash hash={result.transactionHash} />
      <button type="button" className={cx('cw-button')} onClick={onAgain}>
        {t('Buy more')}
      </button>
    </div>
  );
}
