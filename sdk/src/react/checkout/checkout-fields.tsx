import { useId, useState } from 'react';
import { formatAmount } from '../../amounts.ts';
import type { Wallet } from '../../flows/wallet.ts';
import type { Chain } from '../../wire.ts';
import { AddressText, Skeleton, TokenAmount } from '../ui/elements.tsx';
import { type Ui, useUi } from '../ui/ui.tsx';
import { ConnectWalletDialog } from '../wallets/connect-wallet-dialog.tsx';
import type { Protocol } from '../wallets/connector.ts';
import type { Amount, Limits } from './use-amount.ts';
import type { DeploymentChoice } from './use-deployment.ts';

type Choice = { value: string; label: string };
type ChoiceProps = {
  label: string;
  value: string;
  choices: readonly Choice[];
  onChange(value: string): void;
};

/** A select that is disabled if there is only one choice. */
function ChoiceField({ label, value, choices, onChange }: ChoiceProps) {
  const { cx } = useUi();
  const id = useId();
  return (
    <div className={cx('cw-field')}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className={cx('cw-input')}
        value={value}
        disabled={choices.length < 2}
        onChange={(event) => onChange(event.target.value)}
      >
        {choices.map((one) => (
          <option key={one.value} value={one.value}>
            {one.label}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Lets the user choose the network and the asset to pay with. */
export function DeploymentFields({ choice }: { choice: DeploymentChoice<Chain> }) {
  const { t } = useUi();
  const { deployment, chains, assets, setChain, setAsset } = choice;
  if (deployment === undefined) return null;
  return (
    <div className="cw-fields">
      <ChoiceField label={t('Network')} value={deployment.chain} choices={chains} onChange={setChain} />
      <ChoiceField label={t('Pay with')} value={deployment.assetId} choices={assets} onChange={setAsset} />
    </div>
  );
}

type SlippageProps = { value: number; choices: readonly number[]; onChange(bps: number): void };

/** Selects the maximum slippage in basis points. */
export function SlippageField({ value, choices, onChange }: SlippageProps) {
  const { format, t } = useUi();
  return (
    <ChoiceField
      label={t('Maximum slippage')}
      value={String(value)}
      choices={choices.map((bps) => ({ value: String(bps), label: format.percent(bps) }))}
      onChange={(bps) => onChange(Number(bps))}
    />
  );
}

/** Shows the connected wallet, or a button to connect one. */
export function WalletField(props: { wallet: Wallet | undefined; protocol?: Protocol }) {
  const { cx, t } = useUi();
  const { wallet, protocol = 'ethereum' } = props;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div className={cx('cw-field')}>
      <span className={cx('cw-label')}>{t('Wallet')}</span>
      {wallet === undefined ? (
        <button
          type="button"
          className={cx('cw-button cw-button-main cw-button-wide')}
          onClick={() => setIsOpen(true)}
        >
          {t('Connect wallet')}
        </button>
      ) : (
        <div className={cx('cw-panel cw-wallet-panel cw-row cw-spread')}>
          <AddressText address={wallet.address} />
          <button
            type="button"
            className={cx('cw-button cw-button-quiet cw-button-small')}
            onClick={() => setIsOpen(true)}
          >
            {t('Change')}
          </button>
        </div>
      )}
      <ConnectWalletDialog protocol={protocol} open={isOpen} onClose={() => setIsOpen(false)} />
    </div>
  );
}

type AmountProps = {
  amount: Amount;
  limits: Limits;
  /**
   * Whether a wallet is connected. If so, the field shows the balance, or a skeleton until the balance is
   * known.
   */
  hasWallet: boolean;
  disabled?: boolean;
};

/** An amount input with the wallet's balance, and a button that enters the maximum that the user can pay. */
export function AmountField({ amount, limits, hasWallet, disabled = false }: AmountProps) {
  const { cx, format, rich, t } = useUi();
  const id = useId();
  const { balance, maximum, decimals, code } = limits;
  const spendable =
    balance === undefined || maximum === undefined ? balance : balance < maximum ? balance : maximum;
  return (
    <div className={cx('cw-field')}>
      <div className="cw-row cw-spread">
        <label htmlFor={id}>{t('Amount')}</label>
        <span className={cx('cw-small cw-muted cw-numbers')}>
          {hasWallet &&
            rich('Balance {amount}', {
              amount:
                balance === undefined ? (
                  <Skeleton width="8ch" />
                ) : (
                  <TokenAmount units={balance} unit={limits} />
                ),
            })}
        </span>
      </div>
      <div className={cx('cw-amount-box')}>
        <input
          id={id}
          className={cx('cw-amount-input')}
          inputMode="decimal"
          autoComplete="off"
          placeholder={format.toInput('0.00')}
          value={amount.text}
          disabled={disabled}
          aria-invalid={amount.problem !== null}
          aria-describedby={`${id}-problem`}
          onChange={(event) => amount.setText(event.target.value)}
        />
        <span className="cw-unit">{code}</span>
        <button
          type="button"
          className={cx('cw-button cw-button-small')}
          disabled={disabled || spendable === undefined || spendable === 0n}
          onClick={() => amount.setText(format.toInput(formatAmount(spendable ?? 0n, decimals)))}
        >
          {t('Max')}
        </button>
      </div>
      <p
        className={cx(`cw-problem ${amount.problem === null ? '' : 'cw-problem-bad'}`)}
        id={`${id}-problem`}
        aria-live="polite"
      >
        {amount.problem ?? hintOf(limits, { t, format })}
      </p>
    </div>
  );
}

/** Returns the limit to show before anything is typed. */
function hintOf(limits: Limits, { t, format }: Pick<Ui, 't' | 'format'>): string {
  const { minimum, maximum } = limits;
  // Shown in full, because a truncated minimum would be too low.
  const show = (units: bigint) => format.tokenAmount(units, limits);
  if (minimum !== undefined && minimum > 0n) return t('Minimum {amount}', { amount: show(minimum) });
  return maximum === undefined ? '' : t('Up to {amount}', { amount: show(maximum) });
}
