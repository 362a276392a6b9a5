import type { OfferDetails, SwapOutputToken, SwapPreview } from '../../wire.ts';
import { FactList } from '../ui/fact-list.tsx';
import { useUi } from '../ui/ui.tsx';
import type { Deployment } from './use-deployment.ts';

/** Returns a swap's minimum payout in smallest units, rounded up in favour of the user. */
export function minReceived({ receive_output_amount }: SwapPreview, slippageBps: number): bigint {
  const scaled = BigInt(receive_output_amount) * BigInt(10_000 - slippageBps);
  return (scaled + 9_999n) / 10_000n;
}

/**
 * Returns the token that a fund pays out. Until the contract's token is loaded, returns the offer's asset.
 */
export function outputUnit({ asset }: OfferDetails, output: SwapOutputToken | undefined) {
  return { code: output?.symbol ?? asset.code, decimals: output?.decimals ?? asset.fractional_digits };
}

export function FundSummary(props: {
  offer: OfferDetails;
  deployment: Deployment;
  output: SwapOutputToken | undefined;
  preview: SwapPreview | undefined;
  slippageBps: number;
}) {
  const { format, t } = useUi();
  const { offer, deployment, output, preview, slippageBps } = props;
  const received = outputUnit(offer, output);
  const show = (format: (preview: SwapPreview) => string) => (preview === undefined ? '–' : format(preview));
  return (
    <FactList
      className="cw-summary"
      facts={[
        [
          t('You pay'),
          show(({ pay_input_amount, fee }) =>
            format.tokenAmount(BigInt(pay_input_amount) + BigInt(fee), deployment),
          ),
        ],
        [t('Fee included'), show(({ fee }) => format.tokenAmount(fee, deployment))],
        [
          t('You receive'),
          show(({ receive_output_amount }) => format.tokenAmount(receive_output_amount, received)),
        ],
        [
          t('Minimum received'),
          show((shown) => format.tokenAmount(minReceived(shown, slippageBps), received)),
        ],
      ]}
    />
  );
}
