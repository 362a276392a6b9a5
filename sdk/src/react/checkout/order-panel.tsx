import { CHAINS } from '../../chains.ts';
import type { TokenizedPhase } from '../../flows/tokenized-purchase.ts';
import type { OfferDetails, TokenizedSwapTransaction } from '../../wire.ts';
import { Countdown } from '../ui/countdown.tsx';
import { AddressText, TokenAmount } from '../ui/elements.tsx';
import { type Fact, FactList } from '../ui/fact-list.tsx';
import { truncatePrice } from '../ui/format.ts';
import { useUi } from '../ui/ui.tsx';
import { priceOf } from './order-math.ts';
import type { Deployment } from './use-deployment.ts';
import type { TokenizedPurchaseState } from './use-tokenized-purchase.ts';

type Props = { offer: OfferDetails; deployment: Deployment | undefined; purchase: TokenizedPurchaseState };

/** Shows an estimate of the purchase at the current quote. */
export function TokenizedSummary(props: Props) {
  return <FactList className="cw-summary" facts={useTradeFacts(props)} />;
}

/** Returns a purchase's amounts. They come from the firm order or, until it is placed, from the current quote. */
function useTradeFacts({ offer, deployment, purchase }: Props): readonly Fact[] {
  const { format, t } = useUi();
  const { amount, fee, quote, minReceive, order, state } = purchase;
  const { code, fractional_digits } = offer.asset;
  const show = (units: bigint | string | null | undefined, unit: { code: string; decimals: number }) =>
    units == null ? '–' : <TokenAmount units={units} unit={unit} />;
  const priceText = (price: string) => (
    <span title={format.usd(price)}>
      {t('{price} per {asset}', { price: format.usd(truncatePrice(price)), asset: code })}
    </span>
  );
  // These decimals are safe to use: the flow checks them on chain, and rejects a quote or an order with different
  // decimals.
  const paid = { code: deployment?.code ?? '', decimals: deployment?.decimals ?? 0 };
  const received = { code, decimals: fractional_digits };
  // In the `idle` step, `order` belongs to an earlier purchase.
  if (order !== null && state.step !== 'idle') {
    const net = { ...paid, units: BigInt(order.notional_value) };
    const output = { ...received, units: BigInt(order.receive_output_amount) };
    return [
      [t('You pay'), format.tokenAmount(order.pay_input_amount, paid)],
      [t('Fee included'), show(order.fee, paid)],
      [t('You receive'), show(output.units, received)],
      [t('Price'), priceText(priceOf(net, output))],
    ];
  }
  return [
    [t('You pay'), amount.units === null ? '–' : format.tokenAmount(amount.units, paid)],
    [t('Fee included'), show(fee, paid)],
    [t('You receive about'), show(quote.data?.token_base_units, received)],
    [t('Minimum received'), show(minReceive, received)],
    [t('Price'), quote.data === undefined ? '–' : priceText(quote.data.price)],
  ];
}

/** Returns the facts about the order that the review sheet shows. */
export function useReviewFacts(props: Props): readonly Fact[] {
  const { t } = useUi();
  const { deployment, purchase } = props;
  const { wallet } = purchase;
  const facts = useTradeFacts(props);
  if (deployment === undefined || wallet === undefined) return facts;
  return [
    ...facts,
    [t('Network'), CHAINS[deployment.chain].name],
    [t('Wallet'), <AddressText key="wallet" address={wallet.address} />],
  ];
}

/** Until the wallet has sent a firm order, shows how long the order's price remains valid. */
export function PriceTimer(props: {
  order: TokenizedSwapTransaction | null;
  phase: TokenizedPhase | undefined;
}) {
  const { cx, t } = useUi();
  const { order, phase } = props;
  if (order === null || (phase !== 'verifying' && phase !== 'broadcasting')) return null;
  return (
    <p className={cx('cw-small')}>
      <Countdown to={order.expires_at} label={t('Price valid for')} over={t('This price has expired.')} />
    </p>
  );
}
