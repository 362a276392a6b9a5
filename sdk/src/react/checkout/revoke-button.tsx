import type { RevokePhase } from '../../flows/open-approval.ts';
import type { Wallet } from '../../flows/wallet.ts';
import type { OfferDetails } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { useFlow } from '../hooks/use-flow.ts';
import { usePurchaseDone } from '../hooks/use-purchase-done.ts';
import { codeOf } from '../ui/error-messages.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { useUi } from '../ui/ui.tsx';
import type { OpenApproval } from './read-open-approvals.ts';

/** A button that revokes an approval: the wallet that gave the approval sets the allowance to zero. */
export function RevokeButton(props: {
  offer: OfferDetails;
  approval: Omit<OpenApproval, 'amount'>;
  wallet: Wallet | undefined;
  /** Runs the revocation. May skip it if a purchase turns out to need the approval. */
  run(revoke: () => Promise<unknown>): Promise<void>;
}) {
  const { cx, t } = useUi();
  const { offer, approval, wallet, run } = props;
  const causeway = useCauseway();
  const invalidatePurchase = usePurchaseDone();
  const { state, start } = useFlow<RevokePhase, void>();
  const isBusy = state.step === 'running';
  const revoke = () => {
    if (wallet?.protocol !== 'ethereum') return;
    start((flows, options) =>
      run(async () => {
        let prompt = undefined as Promise<unknown> | undefined;
        const onSend = (answer: Promise<unknown>) => {
          prompt = answer;
        };
        try {
          await flows.revokeApproval(causeway, { offer, wallet, ...approval }, { ...options, onSend });
        } catch (error) {
          // If the flow was aborted, the wallet may still show its prompt. Waits for the owner's answer: otherwise, a
          // late revocation could remove the approval of a purchase that starts in the meantime. If the owner confirms,
          // the revocation counts as done.
          if (codeOf(error) !== 'aborted' || prompt === undefined) throw error;
          await prompt;
        }
        invalidatePurchase();
      }),
    );
  };
  return (
    <>
      <button
        type="button"
        className={cx('cw-button cw-button-quiet')}
        disabled={isBusy || wallet?.protocol !== 'ethereum'}
        onClick={revoke}
      >
        {t(isBusy ? 'Confirm in your wallet…' : 'Revoke approval')}
      </button>
      {state.step === 'failed' && <ErrorNotice error={state.error} />}
    </>
  );
}
