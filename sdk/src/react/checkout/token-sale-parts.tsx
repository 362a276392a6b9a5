import { useId } from 'react';
import { formatAmount, parseAmount } from '../../amounts.ts';
import { CHAINS } from '../../chains.ts';
import type { EvmWallet } from '../../flows/wallet.ts';
import type { OfferDetails, OptionAddress, Participation } from '../../wire.ts';
import type { Place } from '../hooks/use-deployment.ts';
import { useParticipation } from '../hooks/use-user.ts';
import { AddressText, StatusBadge } from '../ui/elements.tsx';
import { cutDecimals, formatPrice, formatUsd, groupDigits, isWebAddress, titleOfSlug } from '../ui/format.ts';
import { isMoving, PARTICIPATIONS } from '../ui/labels.ts';
import { useFocusOnAppearance } from '../ui/use-focus.ts';
import { WalletStep } from '../wallets/wallet-step.tsx';
import { Summary, WalletField } from './checkout-fields.tsx';
import type { UnfinishedSale } from './unfinished-sale.ts';

type Option = OfferDetails['options'][number];

/** The options of an offer as cards, one of which is chosen. */
export function OptionChoice(props: { offer: OfferDetails; value: string; onChange(id: string): void }) {
  const { offer, value, onChange } = props;
  const name = useId();
  return (
    <fieldset className="cw-options">
      <legend className="cw-label">Option</legend>
      {offer.options.map((option) => (
        <label key={option.id} className="cw-option">
          <input
            type="radio"
            name={name}
            checked={option.id === value}
            onChange={() => onChange(option.id)}
          />
          <span className="cw-strong">{titleOfSlug(option.slug)}</span>
          <span className="cw-muted cw-small">
            {option.price_usd === null
              ? 'Price of the day'
              : `${formatPrice(option.price_usd)} per ${offer.asset.code}`}
            {option.minimum_purchase_usd !== null && `, from ${formatUsd(option.minimum_purchase_usd)}`}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

export function SaleSummary(props: {
  offer: OfferDetails;
  option: Option;
  place: Place;
  units: bigint | null;
}) {
  const { offer, option, place, units } = props;
  const tokens = units === null ? null : tokensFor(units, place.decimals, option.price_usd);
  return (
    <>
      <Summary
        rows={[
          [
            'You pay',
            units === null ? '–' : `${groupDigits(formatAmount(units, place.decimals))} ${place.code}`,
          ],
          [
            'Price',
            option.price_usd === null ? '–' : `${formatPrice(option.price_usd)} per ${offer.asset.code}`,
          ],
          ['You receive about', tokens === null ? '–' : `${groupDigits(tokens)} ${offer.asset.code}`],
        ]}
      />
      <p className="cw-muted cw-small">
        Your wallet first approves exactly this amount. It is collected when your investment is accepted.
        {isWebAddress(option.sale_agreement_url) && (
          <>
            {' '}
            By investing you accept the{' '}
            <a className="cw-link" href={option.sale_agreement_url} target="_blank" rel="noreferrer">
              sale agreement
            </a>
            .
          </>
        )}
      </p>
    </>
  );
}

/** A dollar of a funding asset counts as a dollar; cut at four digits. */
export function tokensFor(units: bigint, decimals: number, price: string | null): string | null {
  const scaled = price === null ? null : parseAmount(price, 18);
  if (scaled === null || scaled === '0') return null;
  const tokens = (units * 10n ** 36n) / (BigInt(scaled) * 10n ** BigInt(decimals));
  return cutDecimals(formatAmount(tokens, 18), 4);
}

/** A wallet that the option does not know would be refused after the approval, so it is asked before. */
export function UnboundNotice(props: {
  offer: OfferDetails;
  optionId: string;
  wallet: EvmWallet;
  bound: readonly OptionAddress[];
}) {
  const { offer, optionId, wallet, bound } = props;
  return (
    <div className="cw-notice cw-tone-attention">
      <p className="cw-notice-title">This wallet is not registered for this option</p>
      <p>
        Change to{' '}
        {bound.map(({ id, address }, index) => (
          <span key={id}>
            {index > 0 && ' or '}
            <AddressText address={address} />
          </span>
        ))}
        , or register <AddressText address={wallet.address} /> as well.
      </p>
      <WalletStep
        {...{ offer, optionId, wallet }}
        protocol="ethereum"
        maximum={1}
        status={{ status: 'not_started' }}
        isNext={false}
        onMoved={() => undefined}
      />
    </div>
  );
}

/** Found after a reload or a failure: the approval is there, the participation is not. */
export function UnfinishedNotice(props: {
  offer: OfferDetails;
  unfinished: UnfinishedSale;
  wallet: EvmWallet | undefined;
  onContinue(): void;
  onDiscard(): void;
}) {
  const { offer, unfinished, wallet, onContinue, onDiscard } = props;
  const { amount, assetId, chain } = unfinished;
  const asset = offer.funding_assets.find(({ id }) => id === assetId);
  const isSame = wallet?.address.toLowerCase() === unfinished.wallet.toLowerCase();
  return (
    <div className="cw-notice cw-tone-attention cw-stack" role="status">
      <p className="cw-notice-title">You have an unfinished purchase</p>
      <p>
        You approved {groupDigits(formatAmount(amount, asset?.fractional_digits ?? 0))}{' '}
        {asset?.code ?? assetId} on {CHAINS[chain].name}. Continue to finish it; your wallet is not asked for
        another approval.
      </p>
      {!isSame && (
        <>
          <p>
            It needs the wallet <AddressText address={unfinished.wallet} />.
          </p>
          <WalletField wallet={wallet} disabled={false} />
        </>
      )}
      <div className="cw-row cw-wrap">
        <button type="button" className="cw-button cw-button-main" disabled={!isSame} onClick={onContinue}>
          Continue
        </button>
        <button type="button" className="cw-button cw-button-quiet" onClick={onDiscard}>
          Discard it
        </button>
      </div>
    </div>
  );
}

/** What became of it, live. */
export function SaleDone(props: { offer: OfferDetails; participation: Participation; onAgain(): void }) {
  const { offer, participation, onAgain } = props;
  const panel = useFocusOnAppearance<HTMLDivElement>();
  const { data = participation } = useParticipation(participation.id);
  useParticipation(participation.id, { every: 2_500, enabled: isMoving(data.status) });
  const [tone, words, long] = PARTICIPATIONS[data.status];
  return (
    <div className="cw-done cw-stack cw-focused" ref={panel} tabIndex={-1}>
      <p className="cw-done-title">
        {groupDigits(data.amount_string)} {data.asset.code} in {offer.name}
      </p>
      <div role="status" className="cw-stack">
        <p>
          <StatusBadge tone={tone}>{words}</StatusBadge>
        </p>
        <p className="cw-muted">{long}</p>
      </div>
      <button type="button" className="cw-button" onClick={onAgain}>
        {data.status === 'failed' ? 'Try again' : 'Invest more'}
      </button>
    </div>
  );
}
