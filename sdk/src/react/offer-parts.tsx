import type { OfferDetails } from '../wire.ts';
/** Without an offer the parts show that it is loading. */
export type OfferPartProps = { offer: OfferDetails | undefined };
export function OfferHeader(_props: OfferPartProps) {
  return <header className="cw" />;
}
export function OfferTerms(_props: OfferPartProps & { optionId?: string | undefined }) {
  return <section className="cw" />;
}
export function OfferMilestones(_props: OfferPartProps) {
  return <section className="cw" />;
}
export function OfferFaq(_props: OfferPartProps) {
  return <section className="cw" />;
}
export function OfferLinks(_props: OfferPartProps) {
  return <section className="cw" />;
}
