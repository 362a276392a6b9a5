import type { SwapResult } from '../../flows/outcome.ts';
import type { OfferDetails, Participation } from '../../wire.ts';
import type { BlockProps } from '../ui/class-names.ts';
import { FundSwapCheckout } from './fund-swap-checkout.tsx';
import { TokenSaleCheckout } from './token-sale-checkout.tsx';
import { TokenizedCheckout } from './tokenized-checkout.tsx';

/** The result of a purchase, by offer type. */
export type CheckoutResult =
  | { type: 'platform::token_sale'; participation: Participation }
  | { type: 'fund::swap' | 'tokenized::swap'; result: SwapResult };

export type CheckoutProps = BlockProps & {
  offer: OfferDetails;
  /** The option of a token sale to preselect; the user can select another one. Default: the first option. */
  optionId?: string | undefined;
  onOptionChange?: ((optionId: string) => void) | undefined;
  /** Called when the participation is recorded, or when the swap is confirmed. */
  onDone?: ((result: CheckoutResult) => void) | undefined;
};

/**
 * The checkout for any type of offer. To bundle only one type, use `TokenSaleCheckout`, `FundSwapCheckout` or
 * `TokenizedCheckout` instead.
 *
 * @example
 * ```tsx
 * import { Checkout, useOffer } from '@causeway/sdk/react';
 *
 * function Invest({ slug }: { slug: string }) {
 *   const { data: offer } = useOffer(slug);
 *   return offer ? <Checkout offer={offer} onDone={({ type }) => console.log(type)} /> : null;
 * }
 * ```
 */
export function Checkout({ offer, optionId, onOptionChange, onDone, className }: CheckoutProps) {
  switch (offer.type) {
    case 'platform::token_sale':
      return (
        <TokenSaleCheckout
          {...{ offer, optionId, onOptionChange, className }}
          onDone={(participation) => onDone?.({ type: 'platform::token_sale', participation })}
        />
      );
    case 'fund::swap':
      return (
        <FundSwapCheckout
          {...{ offer, className }}
          onDone={(result) => onDone?.({ type: 'fund::swap', result })}
        />
      );
    case 'tokenized::swap':
      return (
        <TokenizedCheckout
          {...{ offer, className }}
          onDone={(result) => onDone?.({ type: 'tokenized::swap', result })}
        />
      );
  }
}
