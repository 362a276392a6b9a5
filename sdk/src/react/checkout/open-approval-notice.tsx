import { formatAmount } from '../../amounts.ts';
import { CHAINS } from '../../chains.ts';
import type { Wallet } from '../../flows/wallet.ts';
import type { OfferDetails } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { useUi } from '../ui/ui.tsx';
import { revokeUnused } from './buy-sale.ts';
import type { OpenApproval } from './read-open-approvals.ts';
import { RevokeButton } from './revoke-button.tsx';
import { useUnfinishedSales } from './unfinished-sale.ts';
import type { Amount } from './use-amount.ts';
import type { DeploymentChoice } from './use-deployment.ts';

/**
 * Shows an approval that no purchase uses. The user can copy its amount into the form, or revoke the approval. Neither
 * action starts a purchase.
 */
export function OpenApprovalNotice(props: {
  offer: OfferDetails;
  wallet: Wallet | undefined;
  approval: OpenApproval;
  choice: Pick<DeploymentChoice, 'setChain' | 'setAsset'>;
  amount: Amount;
  onRevoked(): void;
}) {
  const { cx, format, t } = useUi();
  const { offer, wallet, approval, choice, onRevoked } = props;
  const causeway = useCauseway();
  const recorded = useUnfinishedSales(offer.id);
  const { lock } = recorded;
  const token = offer.contracts
    .find(({ chain }) => chain === approval.chain)
    ?.funding_tokens.find(({ asset_id }) => asset_id === approval.assetId);
  if (token === undefined) return null;
  const code = offer.funding_assets.find(({ id }) => id === approval.assetId)?.code ?? approval.assetId;
  const amount = format.tokenAmount(approval.amount, { decimals: token.decimals, code });
  return (
    <div className={cx('cw-notice cw-tone-attention cw-stack')} role="status">
      <p className={cx('cw-notice-title')}>{t('You have an open approval of {amount}', { amount })}</p>
      <p>
        {t("It's on {network}, and no purchase uses it. Revoke it if you don't need it.", {
          network: CHAINS[approval.chain].name,
        })}
      </p>
      <div className="cw-row cw-wrap">
        <button
          type="button"
          className={cx('cw-button')}
          onClick={() => {
            choice.setChain(approval.chain);
            choice.setAsset(approval.assetId);
            props.amount.setText(format.toInput(formatAmount(approval.amount, token.decimals)));
          }}
        >
          {t('Use this amount')}
        </button>
        <RevokeButton
          {...{ offer, approval }}
          wallet={lock === undefined ? undefined : wallet}
          run={async (revoke) => {
            if (lock === undefined || wallet === undefined) return;
            const sale = { offer, approval, wallet, recorded: { ...recorded, lock } };
            await revokeUnused(causeway, sale, revoke);
            onRevoked();
          }}
        />
      </div>
    </div>
  );
}
