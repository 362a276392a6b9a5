import { formatAmount } from '../../amounts.ts';
import type { TokenizedPhase } from '../../flows/tokenized-purchase.ts';
import type { OfferDetails, TokenizedSwapQuote, TokenizedSwapTransaction } from '../../wire.ts';
import type { Place } from '../hooks/use-deployment.ts';
import { Countdown } from '../ui/countdown.tsx';
import { cutDecimals, formatPrice, groupDigits } from '../ui/format.ts';
import { Summary } from './checkout-fields.tsx';

/** What the offer's terms say of it, in the operator's words. */
function feeTerm({ terms }: OfferDetails): string | undefined {
  return terms.find(({ key }) => /\bfee\b/i.test(key))?.value;
}

export function TokenizedSummary(props: {
  offer: OfferDetails;
  place: Place;
  quote: TokenizedSwapQuote | undefined;
  units: bigint | null;
}) {
  const { offer, place, quote, units } = props;
  const fee = feeTerm(offer);
  return (
    <>
      <Summary
        rows={[
          [
            'You pay',
            units === null ? '–' : `${groupDigits(formatAmount(units, place.decimals))} ${place.code}`,
          ],
          [
            'Price now',
            quote === undefined ? '–' : `${formatPrice(cutDecimals(quote.price, 4))} per ${offer.asset.code}`,
          ],
          [
            'You receive about',
            quote === undefined
              ? '–'
              : `${groupDigits(cutDecimals(formatAmount(quote.token_base_units, quote.asset_decimals), 6))} ${offer.asset.code}`,
          ],
        ]}
      />
      <p className="cw-muted cw-small">
        {fee === undefined ? 'The platform fee' : `The platform fee (${fee})`} is part of what you pay, not on
        top, and comes off before the purchase. You see the exact numbers before you confirm in your wallet.
      </p>
    </>
  );
}

/** The firm order, while the wallet asks: what is paid and received to the last digit, and how long it holds. */
export function OrderPanel(props: {
  offer: OfferDetails;
  place: Place;
  order: TokenizedSwapTransaction | null;
  phase: TokenizedPhase | undefined;
}) {
  const { offer, place, order, phase } = props;
  if (order === null) return null;
  const pay = (units: string) =>
    `${groupDigits(formatAmount(units, order.pay_input_decimals))} ${place.code}`;
  const isOpen = phase === 'verifying' || phase === 'broadcasting';
  return (
    <div className="cw-panel cw-stack">
      <Summary
        rows={[
          ['You pay', pay(order.pay_input_amount)],
          ['Of that, fee', pay(order.fee)],
          [
            'You receive',
            `${groupDigits(formatAmount(order.receive_output_amount, order.receive_output_decimals))} ${offer.asset.code}`,
          ],
        ]}
      />
      {isOpen && (
        <p className="cw-small">
          <Countdown to={order.expires_at} label="This price holds for" over="This price has expired." />
        </p>
      )}
    </div>
  );
}
