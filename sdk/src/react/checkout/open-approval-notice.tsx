import { formatAmount } from '../../amounts.ts';
import { CHAINS } from '../../chains.ts';
import type { Wallet } from '../../flows/wallet.ts';
import type { OfferDetails } from '../../wire.ts';
import { useUi } from '../ui/ui.tsx';
import type { OpenApproval } from './read-open-approvals.ts';
import { RevokeButton } from './revoke-button.tsx';
import { useOpenApprovals } from './use-open-approvals.ts';

/** Offers to finish a swap that was approved but not sent, or to take the approval back. */
export function OpenApprovalNotice(props: {
  offer: OfferDetails;
  wallet: Wallet | undefined;
  onContinue(approval: OpenApproval, amount: string): void;
}) {
  const { cx, format, t } = useUi();
  const { offer, wallet, onContinue } = props;
  const [approval] = useOpenApprovals(offer, wallet, true);
  const token = offer.contracts
    .find(({ chain }) => chain === approval?.chain)
    ?.funding_tokens.find(({ asset_id }) => asset_id === approval?.assetId);
  if (approval === undefined || token === undefined) return null;
  const code = offer.funding_assets.find(({ id }) => id === approval.assetId)?.code ?? approval.assetId;
  const amount = format.tokenAmount(approval.amount, { decimals: token.decimals, code });
  return (
    <div className={cx('cw-notice cw-tone-attention cw-stack')} role="status">
      <p className={cx('cw-notice-title')}>{t('You have an unfinished purchase')}</p>
      <p>
        {t('You approved {amount} on {network}, and nothing was bought with it yet.', {
          ...{ amount, network: CHAINS[approval.chain].name },
        })}
      </p>
      <div className="cw-row cw-wrap">
        <button
          type="button"
          className={cx('cw-button')}
          onClick={() => onContinue(approval, format.toInput(formatAmount(approval.amount, token.decimals)))}
        >
          {t('Continue')}
        </button>
        <RevokeButton {...{ offer, approval, wallet }} onRevoked={() => undefined} />
      </div>
    </div>
  );
}
