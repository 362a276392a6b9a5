import { CHAINS } from '../../chains.ts';
import type { Wallet } from '../../flows/wallet.ts';
import type { OfferDetails, SwapOutputToken, SwapPreview } from '../../wire.ts';
import { AddressText, TokenAmount } from '../ui/elements.tsx';
import { type Fact, FactList } from '../ui/fact-list.tsx';
import { useUi } from '../ui/ui.tsx';
import type { Deployment } from './use-deployment.ts';

/**
 * Returns the token that a fund pays out. Until the contract's token is loaded, returns the offer's asset.
 */
export function outputUnit({ asset }: OfferDetails, output: SwapOutputToken | undefined) {
  return { code: output?.symbol ?? asset.code, decimals: output?.decimals ?? asset.fractional_digits };
}

type Preview = {
  offer: OfferDetails;
  deployment: Deployment;
  output: SwapOutputToken | undefined;
  preview: SwapPreview | undefined;
  /** The minimum to receive, in smallest units. */
  minReceive: bigint | undefined;
};

export function FundSummary(props: Preview) {
  return <FactList className="cw-summary" facts={useSwapFacts(props)} />;
}

/** Returns the facts about the order for the review sheet, or an empty list until the order is complete. */
export function useFundFacts(
  props: Omit<Preview, 'deployment'> & { deployment: Deployment | undefined; wallet: Wallet | undefined },
): readonly Fact[] {
  const { t } = useUi();
  const { deployment, wallet, ...preview } = props;
  const facts = useSwapFacts({ ...preview, deployment: deployment ?? NO_DEPLOYMENT });
  if (deployment === undefined || wallet === undefined || preview.preview === undefined) return [];
  return [
    ...facts,
    [t('Network'), CHAINS[deployment.chain].name],
    [t('Wallet'), <AddressText key="wallet" address={wallet.address} />],
  ];
}

const NO_DEPLOYMENT = { decimals: 0, code: '' };

function useSwapFacts(
  props: Omit<Preview, 'deployment'> & { deployment: { decimals: number; code: string } },
): readonly Fact[] {
  const { format, t } = useUi();
  const { offer, deployment, output, preview, minReceive } = props;
  const received = outputUnit(offer, output);
  const show = (units: bigint | string | undefined, unit: { decimals: number; code: string }) =>
    units === undefined ? '–' : <TokenAmount units={units} unit={unit} />;
  const pays = preview && BigInt(preview.pay_input_amount) + BigInt(preview.fee);
  return [
    [t('You pay'), pays === undefined ? '–' : format.tokenAmount(pays, deployment)],
    [t('Fee included'), show(preview?.fee, deployment)],
    [t('You receive'), show(preview?.receive_output_amount, received)],
    [t('Minimum received'), show(preview && minReceive, received)],
  ];
}
