import type { SwapResult } from '../flows/fund-swap.ts';
import type { OfferDetails } from '../wire.ts';
export type FundSwapCheckoutProps = {
  offer: OfferDetails;
  onDone?: ((result: SwapResult) => void) | undefined;
};
export function FundSwapCheckout(_props: FundSwapCheckoutProps) {
  return <section className="cw" />;
}
