import type { OfferDetails } from '../wire.ts';
export type RequirementsChecklistProps = {
  offer: OfferDetails;
  optionId: string;
  /** Told when all of it is done; at once if it is. */
  onCompleted?: (() => void) | undefined;
};
export function RequirementsChecklist(_props: RequirementsChecklistProps) {
  return <section className="cw" />;
}
