import { formatAmount } from '../../amounts.ts';
import type { TokenizedPhase } from '../../flows/tokenized-purchase.ts';
import type { OfferDetails, TokenizedSwapQuote, TokenizedSwapTransaction } from '../../wire.ts';
import { Countdown } from '../ui/countdown.tsx';
import { FactList } from '../ui/fact-list.tsx';
import { formatPrice, formatTokenAmount, groupDigits, truncateDecimals } from '../ui/format.ts';
import type { Deployment } from './use-deployment.ts';

/** Returns the fee from the offer's terms, as the operator wrote it. */
function feeTerm({ terms }: OfferDetails): string | undefined {
  return terms.find(({ key }) => /\bfee\b/i.test(key))?.value;
}

/** Shows the estimate of a purchase at the current quote. */
export function TokenizedSummary(props: {
  offer: OfferDetails;
  deployment: Deployment;
  quote: TokenizedSwapQuote | undefined;
  units: bigint | null;
}) {
  const { offer, deployment, quote, units } = props;
  const { code } = offer.asset;
  const fee = feeTerm(offer);
  const price = quote && `${formatPrice(truncateDecimals(quote.price, 4))} per ${code}`;
  const tokens = quote && truncateDecimals(formatAmount(quote.token_base_units, quote.asset_decimals), 6);
  return (
    <>
      <FactList
        className="cw-summary"
        facts={[
          ['You pay', units === null ? '–' : formatTokenAmount(units, deployment)],
          ['Current price', price ?? '–'],
          ['You receive about', tokens === undefined ? '–' : `${groupDigits(tokens)} ${code}`],
        ]}
      />
      <p className="cw-muted cw-small">
        {fee === undefined ? 'The platform fee' : `The platform fee (${fee})`} is included in what you pay and
        comes off before the purchase. You'll see the exact amounts before you confirm in your wallet.
      </p>
    </>
  );
}

/**
 * Shows the exact amounts of a firm order and how long its price is valid, while the wallet waits for the
 * user's confirmation.
 */
export function OrderPanel(props: {
  offer: OfferDetails;
  deployment: Deployment;
  order: TokenizedSwapTransaction | null;
  phase: TokenizedPhase | undefined;
}) {
  const { offer, deployment, order, phase } = props;
  if (order === null) return null;
  const paid = { code: deployment.code, decimals: order.pay_input_decimals };
  const received = { code: offer.asset.code, decimals: order.receive_output_decimals };
  const isOpen = phase === 'verifying' || phase === 'broadcasting';
  return (
    <div className="cw-panel cw-stack">
      <FactList
        className="cw-summary"
        facts={[
          ['You pay', formatTokenAmount(order.pay_input_amount, paid)],
          ['Fee included', formatTokenAmount(order.fee, paid)],
          ['You receive', formatTokenAmount(order.receive_output_amount, received)],
        ]}
      />
      {isOpen && (
        <p className="cw-small">
          <Countdown to={order.expires_at} label="Price valid for" over="This price has expired." />
        </p>
      )}
    </div>
  );
}
