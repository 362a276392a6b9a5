import { formatAmount } from '../../amounts.ts';
import type { OfferDetails, SwapOutputToken, SwapPreview } from '../../wire.ts';
import type { Place, PlaceChoice } from '../hooks/use-deployment.ts';
import { groupDigits } from '../ui/format.ts';
import { PlaceFields, Summary } from './checkout-fields.tsx';

/** Smallest units that a swap gives at least; a share of a unit counts for the user. */
export function leastOf({ receive_output_amount }: SwapPreview, slippageBps: number): bigint {
  const kept = BigInt(receive_output_amount) * BigInt(10_000 - slippageBps);
  return (kept + 9_999n) / 10_000n;
}

export function FundSummary(props: {
  offer: OfferDetails;
  place: Place;
  output: SwapOutputToken | undefined;
  preview: SwapPreview | undefined;
  slippage: number;
}) {
  const { offer, place, output, preview, slippage } = props;
  const pay = (units: bigint) => `${groupDigits(formatAmount(units, place.decimals))} ${place.code}`;
  const digits = output?.decimals ?? offer.asset.fractional_digits;
  const get = (units: bigint) =>
    `${groupDigits(formatAmount(units, digits))} ${output?.symbol ?? offer.asset.code}`;
  const known = (show: (preview: SwapPreview) => string) => (preview === undefined ? '–' : show(preview));
  return (
    <Summary
      rows={[
        ['You pay', known(({ pay_input_amount, fee }) => pay(BigInt(pay_input_amount) + BigInt(fee)))],
        ['Of that, fee', known(({ fee }) => pay(BigInt(fee)))],
        ['You receive', known(({ receive_output_amount }) => get(BigInt(receive_output_amount)))],
        ['At least', known((seen) => get(leastOf(seen, slippage)))],
      ]}
    />
  );
}

export function FundStopped({ choice }: { choice: PlaceChoice }) {
  return (
    <div className="cw-stack">
      <PlaceFields choice={choice} disabled={false} />
      <div className="cw-notice cw-tone-attention" role="status">
        <p className="cw-notice-title">Swaps are stopped at the moment</p>
        <p>The fund has paused on this network. This page looks again by itself; nothing is lost.</p>
      </div>
    </div>
  );
}
