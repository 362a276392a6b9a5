import type { ReactNode } from 'react';
import type { OfferDetails } from '../../wire.ts';
import { useRequirementRows } from '../hooks/use-requirement-rows.ts';
import { RequirementsChecklist } from '../identity/requirements-checklist.tsx';
import { useOfferState } from '../offers/offer-state.tsx';
import { Empty, Loading, Skeleton } from '../ui/elements.tsx';
import { formatMoment } from '../ui/format.ts';

/** Lets through once the offer is open and the option's requirements are met; until then it says what is missing. */
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
  if (state === 'ended') return <Empty title="This offer has ended">Have a look at the others.</Empty>;
  if (state === 'upcoming')
    return <Empty title="This offer is not open yet">Opens on {formatMoment(offer.starts_at ?? '')}.</Empty>;
  if (rows === undefined && error === undefined)
    return (
      <div className="cw-stack">
        <Loading what="the checkout" />
        <Skeleton height="18em" />
      </div>
    );
  return isAllDone ? children : <RequirementsChecklist offer={offer} optionId={optionId} />;
}
