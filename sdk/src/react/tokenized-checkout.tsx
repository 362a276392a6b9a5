import type { SwapResult } from '../flows/fund-swap.ts';
import type { OfferDetails } from '../wire.ts';
export type TokenizedCheckoutProps = {
  offer: OfferDetails;
  onDone?: ((result: SwapResult) => void) | undefined;
};
export function TokenizedCheckout(_props: TokenizedCheckoutProps) {
  return <section className="cw" />;
}
