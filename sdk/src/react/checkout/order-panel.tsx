import { formatAmount } from '../../amounts.ts';
import type { TokenizedPhase } from '../../flows/tokenized-purchase.ts';
import type { OfferDetails, TokenizedSwapQuote, TokenizedSwapTransaction } from '../../wire.ts';
import { Countdown } from '../ui/countdown.tsx';
import { FactList } from '../ui/fact-list.tsx';
import { truncateDecimals } from '../ui/format.ts';
import { useUi } from '../ui/ui.tsx';
import type { Deployment } from './use-deployment.ts';

const FEE_NOTE =
  "{fee} is included in what you pay and comes off before the purchase. You'll see the exact amounts before you confirm in your wallet.";

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
  const { cx, format, t } = useUi();
  const { offer, deployment, quote, units } = props;
  const { code } = offer.asset;
  const fee = feeTerm(offer);
  const price =
    quote && t('{price} per {asset}', { price: format.price(truncateDecimals(quote.price, 4)), asset: code });
  const tokens = quote && truncateDecimals(formatAmount(quote.token_base_units, quote.asset_decimals), 6);
  return (
    <>
      <FactList
        className="cw-summary"
        facts={[
          [t('You pay'), units === null ? '–' : format.tokenAmount(units, deployment)],
          [t('Current price'), price ?? '–'],
          [t('You receive about'), tokens === undefined ? '–' : `${format.digits(tokens)} ${code}`],
        ]}
      />
      <p className={cx('cw-muted cw-small')}>
        {t(FEE_NOTE, {
          fee: fee === undefined ? t('The platform fee') : t('The platform fee ({fee})', { fee }),
        })}
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
  const { cx, format, t } = useUi();
  const { offer, deployment, order, phase } = props;
  if (order === null) return null;
  const paid = { code: deployment.code, decimals: order.pay_input_decimals };
  const received = { code: offer.asset.code, decimals: order.receive_output_decimals };
  const isOpen = phase === 'verifying' || phase === 'broadcasting';
  return (
    <div className={cx('cw-panel cw-stack')}>
      <FactList
        className="cw-summary"
        facts={[
          [t('You pay'), format.tokenAmount(order.pay_input_amount, paid)],
          [t('Fee included'), format.tokenAmount(order.fee, paid)],
          [t('You receive'), format.tokenAmount(order.receive_output_amount, received)],
        ]}
      />
      {isOpen && (
        <p className={cx('cw-small')}>
          <Countdown to={order.expires_at} label={t('Price valid for')} over={t('This price has expired.')} />
        </p>
      )}
    </div>
  );
}
