import { type ReactNode, useState } from 'react';
import type { OfferDetails } from '../../wire.ts';
import { RequirementsChecklist } from '../identity/requirements-checklist.tsx';
import { useBlockers } from '../identity/use-blockers.ts';
import { useRequirementRows } from '../identity/use-requirement-rows.ts';
import { useOfferState } from '../offers/offer-state.tsx';
import { Empty, Loading, Skeleton } from '../ui/elements.tsx';
import { useUi } from '../ui/ui.tsx';

/**
 * Shows its children once the offer is open and the user is eligible; until then, shows what blocks the user. The
 * children call `onBusy` when the flow of a purchase leaves idle or returns to it. In between, the children stay on the
 * page whatever happens, for example if the offer ends or if the purchase itself takes the last tokens.
 */
export function CheckoutGate({
  offer,
  optionId,
  children,
}: {
  offer: OfferDetails;
  optionId: string;
  children(onBusy: (isBusy: boolean) => void): ReactNode;
}) {
  const { format, t } = useUi();
  const state = useOfferState(offer);
  const { isAllDone, rows, error } = useRequirementRows(offer.id, optionId);
  const { blockers, isLoading } = useBlockers(offer.id, optionId);
  const [isBusy, onBusy] = useState(false);
  if (isBusy) return children(onBusy);
  if (state === 'ended')
    return <Empty title={t('This offer has ended')}>{t('Take a look at our other offers.')}</Empty>;
  if (state === 'upcoming')
    return (
      <Empty title={t("This offer isn't open yet")}>
        {t('Opens on {date}.', { date: format.dateTime(offer.starts_at ?? '') })}
      </Empty>
    );
  if ((rows === undefined && error === undefined) || isLoading)
    return (
      <div className="cw-stack">
        <Loading>{t('Loading the checkout…')}</Loading>
        <Skeleton height="18em" />
      </div>
    );
  return isAllDone && blockers.length === 0 ? (
    children(onBusy)
  ) : (
    <RequirementsChecklist offer={offer} optionId={optionId} />
  );
}
