import { formatAmount, parseAmount } from '../../amounts.ts';
import { CHAINS } from '../../chains.ts';
import type { Wallet } from '../../flows/wallet.ts';
import type { Chain, OfferDetails } from '../../wire.ts';
import { AddressText } from '../ui/elements.tsx';
import { type Fact, FactList } from '../ui/fact-list.tsx';
import { isWebUrl, truncateDecimals } from '../ui/format.ts';
import { useUi } from '../ui/ui.tsx';
import type { Deployment } from './use-deployment.ts';

/** Shows what the user pays and about how many tokens they receive. */
export function SaleSummary(props: {
  offer: OfferDetails;
  option: OfferDetails['options'][number];
  deployment: Deployment<Chain>;
  units: bigint | null;
}) {
  const { cx, format, rich, t } = useUi();
  const { offer, option, deployment, units } = props;
  const { code } = offer.asset;
  const tokens = units === null ? null : estimateTokens(units, deployment.decimals, option.price_usd);
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
              : t('{price} per {asset}', { price: format.price(option.price_usd), asset: code }),
          ],
          [t('You receive about'), tokens === null ? '–' : `${format.digits(tokens)} ${code}`],
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

/** Returns the order as the review sheet shows it; nothing until it is complete. */
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
  const tokens = estimateTokens(units, deployment.decimals, option.price_usd);
  return [
    [t('You pay'), format.tokenAmount(units, deployment)],
    [t('Platform fee'), t('None')],
    [t('You receive about'), tokens === null ? '–' : `${format.digits(tokens)} ${code}`],
    [
      t('Price'),
      option.price_usd === null
        ? t('Set daily')
        : t('{price} per {asset}', { price: format.price(option.price_usd), asset: code }),
    ],
    [t('Network'), CHAINS[deployment.chain].name],
    [t('Wallet'), <AddressText key="wallet" address={wallet.address} />],
  ];
}

/** Estimates the tokens bought, truncated to four decimals; a unit of the funding asset counts as one dollar. */
export function estimateTokens(units: bigint, decimals: number, price: string | null): string | null {
  const scaledPrice = price === null ? null : parseAmount(price, 18);
  if (scaledPrice === null || scaledPrice === '0') return null;
  const tokens = (units * 10n ** 36n) / (BigInt(scaledPrice) * 10n ** BigInt(decimals));
  return truncateDecimals(formatAmount(tokens, 18), 4);
}
