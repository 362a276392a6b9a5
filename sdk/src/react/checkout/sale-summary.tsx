import { parseAmount } from '../../amounts.ts';
import { CHAINS } from '../../chains.ts';
import type { Wallet } from '../../flows/wallet.ts';
import type { Chain, OfferDetails } from '../../wire.ts';
import { AddressText, TokenAmount } from '../ui/elements.tsx';
import { type Fact, FactList } from '../ui/fact-list.tsx';
import { isWebUrl } from '../ui/format.ts';
import { useUi } from '../ui/ui.tsx';
import type { Deployment } from './use-deployment.ts';

/** Shows what the user pays, the price, and an estimate of the tokens that the user receives. */
export function SaleSummary(props: {
  offer: OfferDetails;
  option: OfferDetails['options'][number];
  deployment: Deployment<Chain>;
  units: bigint | null;
}) {
  const { cx, format, rich, t } = useUi();
  const { offer, option, deployment, units } = props;
  const { code } = offer.asset;
  const tokens = units === null ? null : estimateTokens({ ...deployment, units }, option.price_usd, code);
  return (
    <>
      <FactList
        className="cw-summary"
        facts={[
          [t('You pay'), units === null ? '–' : format.tokenAmount(units, deployment)],
          [
            t('Price'),
            option.price_usd === null
              ? '–'
              : t('{price} per {asset}', { price: format.usd(option.price_usd), asset: code }),
          ],
          [t('You receive about'), tokens === null ? '–' : <TokenAmount key="tokens" {...tokens} />],
        ]}
      />
      <p className={cx('cw-muted cw-small')}>
        {t('You approve exactly this amount. Your money stays in your wallet until the sale accepts it.')}
        {isWebUrl(option.sale_agreement_url) && (
          <>
            {' '}
            {rich('By investing you accept the {agreement}.', {
              agreement: (
                <a
                  className={cx('cw-link')}
                  href={option.sale_agreement_url}
                  target="_blank"
                  rel="noreferrer"
                >
                  {t('sale agreement')}
                </a>
              ),
            })}
          </>
        )}
      </p>
    </>
  );
}

/** Returns the facts about the order for the review sheet, or an empty list until the order is complete. */
export function useSaleFacts(props: {
  offer: OfferDetails;
  option: OfferDetails['options'][number];
  deployment: Deployment<Chain> | undefined;
  wallet: Wallet | undefined;
  units: bigint | null;
}): readonly Fact[] {
  const { format, t } = useUi();
  const { offer, option, deployment, wallet, units } = props;
  if (deployment === undefined || wallet === undefined || units === null) return [];
  const { code } = offer.asset;
  const tokens = estimateTokens({ ...deployment, units }, option.price_usd, code);
  return [
    [t('You pay'), format.tokenAmount(units, deployment)],
    [t('Platform fee'), t('None')],
    [t('You receive about'), tokens === null ? '–' : <TokenAmount key="tokens" {...tokens} />],
    [
      t('Price'),
      option.price_usd === null
        ? t('Set daily')
        : t('{price} per {asset}', { price: format.usd(option.price_usd), asset: code }),
    ],
    [t('Network'), CHAINS[deployment.chain].name],
    [t('Wallet'), <AddressText key="wallet" address={wallet.address} />],
  ];
}

const DECIMALS = 18;

/**
 * Estimates how many tokens the user receives, rounded down. The price is in dollars, and one unit of the funding asset
 * counts as one dollar. Returns null if there is no price.
 */
export function estimateTokens(
  paid: { units: bigint; decimals: number },
  price: string | null,
  code: string,
) {
  const scaledPrice = price === null ? null : parseAmount(price, DECIMALS);
  if (scaledPrice === null || scaledPrice === '0') return null;
  const scale = 10n ** BigInt(2 * DECIMALS);
  const units = (paid.units * scale) / (BigInt(scaledPrice) * 10n ** BigInt(paid.decimals));
  return { units, unit: { decimals: DECIMALS, code } };
}
