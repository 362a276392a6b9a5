import type { ReactNode } from 'react';
import type { OfferDetails } from '../../wire.ts';
import { RequirementsChecklist } from '../identity/requirements-checklist.tsx';
import { useBlockers } from '../identity/use-blockers.ts';
import { useRequirementRows } from '../identity/use-requirement-rows.ts';
import { useOfferState } from '../offers/offer-state.tsx';
import { Empty, Loading, Skeleton } from '../ui/elements.tsx';
import { formatDateTime } from '../ui/format.ts';

/** Shows its children once the offer is open and the user is eligible; until then, shows what blocks the user. */
export function CheckoutGate({
  offer,
  optionId,
  children,
}: {
  offer: OfferDetails;
  optionId: string;
  children: ReactNode;
}) {
  const state = useOfferState(offer);
  const { isAllDone, rows, error } = useRequirementRows(offer.id, optionId);
  const { blockers, isLoading } = useBlockers(offer.id, optionId);
  if (state === 'ended') return <Empty title="This offer has ended">Take a look at our other offers.</Empty>;
  if (state === 'upcoming')
    return <Empty title="This offer isn't open yet">Opens on {formatDateTime(offer.starts_at ?? '')}.</Empty>;
  if ((rows === undefined && error === undefined) || isLoading)
    return (
      <div className="cw-stack">
        <Loading what="the checkout" />
        <Skeleton height="18em" />
      </div>
    );
  return isAllDone && blockers.length === 0 ? (
    children
  ) : (
    <RequirementsChecklist offer={offer} optionId={optionId} />
  );
}
