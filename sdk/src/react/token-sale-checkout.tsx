import type { OfferDetails, Participation } from '../wire.ts';
export type TokenSaleCheckoutProps = {
  offer: OfferDetails;
  /** The option that is chosen first; the user can choose another unless it is the only one. */
  optionId?: string | undefined;
  onOptionChange?: ((optionId: string) => void) | undefined;
  /** Told when the participation is recorded. */
  onDone?: ((participation: Participation) => void) | undefined;
};
export function TokenSaleCheckout(_props: TokenSaleCheckoutProps) {
  return <section className="cw" />;
}
