import { useId } from 'react';
import type { OfferDetails } from '../../wire.ts';
import { formatPrice, formatUsd, slugToTitle } from '../ui/format.ts';

/** Shows an offer's options as radio cards. */
export function OptionPicker(props: { offer: OfferDetails; value: string; onChange(id: string): void }) {
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
          <span className="cw-strong">{slugToTitle(option.slug)}</span>
          <span className="cw-muted cw-small">
            {option.price_usd === null
              ? 'Price set daily'
              : `${formatPrice(option.price_usd)} per ${offer.asset.code}`}
            {option.minimum_purchase_usd !== null && `, from ${formatUsd(option.minimum_purchase_usd)}`}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
