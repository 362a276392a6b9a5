import type { SwapResult } from '../../flows/outcome.ts';
import { StatusBadge } from '../ui/elements.tsx';
import { FactList } from '../ui/fact-list.tsx';
import { formatTokenAmount } from '../ui/format.ts';
import { useFocusOnMount } from '../ui/use-focus-on-mount.ts';
import { TransactionHash } from './flow-panel.tsx';

type Unit = { code: string; decimals: number };

/** Shows the result of a swap, taken from the events of its transaction. */
export function SwapDone(props: { result: SwapResult; paid: Unit; received: Unit; onAgain(): void }) {
  const { result, paid, received, onAgain } = props;
  const panel = useFocusOnMount<HTMLDivElement>();
  return (
    <div className="cw-done cw-stack cw-focused" ref={panel} tabIndex={-1}>
      <div role="status" className="cw-stack">
        <p>
          <StatusBadge tone="good">Completed</StatusBadge>
        </p>
        <p className="cw-done-title">You received {formatTokenAmount(result.received, received)}</p>
      </div>
      <FactList
        className="cw-summary"
        facts={[
          ['You paid', formatTokenAmount(result.paid, paid)],
          ['Fee included', formatTokenAmount(result.fee, paid)],
        ]}
      />
      <TransactionHash hash={result.transactionHash} />
      <button type="button" className="cw-button" onClick={onAgain}>
        Buy more
      </button>
    </div>
  );
}
