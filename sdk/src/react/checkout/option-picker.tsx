import { useId } from 'react';
import type { OfferDetails } from '../../wire.ts';
import { slugToTitle } from '../ui/format.ts';
import { useUi } from '../ui/ui.tsx';

/** Shows an offer's options as radio cards. */
export function OptionPicker(props: { offer: OfferDetails; value: string; onChange(id: string): void }) {
  const { cx, format, t } = useUi();
  const { offer, value, onChange } = props;
  const name = useId();
  return (
    <fieldset className="cw-options">
      <legend className={cx('cw-label')}>{t('Option')}</legend>
      {offer.options.map((option) => (
        <label key={option.id} className={cx('cw-option')}>
          <input
            type="radio"
            name={name}
            checked={option.id === value}
            onChange={() => onChange(option.id)}
          />
          <span className={cx('cw-strong')}>{slugToTitle(option.slug)}</span>
          <span className={cx('cw-muted cw-small')}>
            {option.price_usd === null
              ? t('Price set daily')
              : t('{price} per {asset}', { price: format.usd(option.price_usd), asset: offer.asset.code })}
            {option.minimum_purchase_usd !== null &&
              t(', from {amount}', { amount: format.usd(option.minimum_purchase_usd) })}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
