import { formatAmount } from '../../amounts.ts';
import type { SwapResult } from '../../flows/outcome.ts';
import { StatusBadge } from '../ui/elements.tsx';
import { groupDigits } from '../ui/format.ts';
import { useFocusOnAppearance } from '../ui/use-focus.ts';
import { Summary } from './checkout-fields.tsx';
import { TransactionHash } from './checkout-parts.tsx';

type Unit = { code: string; decimals: number };

/** What a swap came to, by the events of its transaction. */
export function SwapDone(props: { result: SwapResult; paid: Unit; received: Unit; onAgain(): void }) {
  const { result, paid, received, onAgain } = props;
  const panel = useFocusOnAppearance<HTMLDivElement>();
  const show = (units: bigint, { code, decimals }: Unit) =>
    `${groupDigits(formatAmount(units, decimals))} ${code}`;
  return (
    <div className="cw-done cw-stack cw-focused" ref={panel} tabIndex={-1}>
      <div role="status" className="cw-stack">
        <p>
          <StatusBadge tone="good">Completed</StatusBadge>
        </p>
        <p className="cw-done-title">You received {show(result.received, received)}</p>
      </div>
      <Summary
        rows={[
          ['You paid', show(result.paid, paid)],
          ['Of that, fee', show(result.fee, paid)],
        ]}
      />
      <TransactionHash hash={result.transactionHash} />
      <button type="button" className="cw-button" onClick={onAgain}>
        Buy more
      </button>
    </div>
  );
}
