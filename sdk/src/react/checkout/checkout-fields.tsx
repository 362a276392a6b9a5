import { type ReactNode, useId, useState } from 'react';
import { formatAmount } from '../../amounts.ts';
import type { EvmWallet } from '../../flows/wallet.ts';
import type { PlaceChoice } from '../hooks/use-deployment.ts';
import { AddressText, Skeleton } from '../ui/elements.tsx';
import { cutDecimals, groupDigits } from '../ui/format.ts';
import { ConnectWalletDialog } from '../wallets/connect-wallet-dialog.tsx';
import type { Amount, Limits } from './use-amount.ts';

type Choice = { value: string; label: string };
type ChoiceProps = {
  label: string;
  /** Says what it is for. */
  hint?: string | undefined;
  value: string;
  choices: readonly Choice[];
  disabled: boolean;
  onChange(value: string): void;
};

/** One choice is no question: it is only told. */
export function ChoiceField({ label, hint, value, choices, disabled, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <div className="cw-field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="cw-input"
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        disabled={disabled || choices.length < 2}
        onChange={(event) => onChange(event.target.value)}
      >
        {choices.map((one) => (
          <option key={one.value} value={one.value}>
            {one.label}
          </option>
        ))}
      </select>
      {hint !== undefined && (
        <p className="cw-muted cw-small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** The network and the asset to pay with. */
export function PlaceFields({ choice, disabled }: { choice: PlaceChoice; disabled: boolean }) {
  const { place, chains, assets, setChain, setAsset } = choice;
  if (place === undefined) return null;
  return (
    <div className="cw-fields">
      <ChoiceField
        label="Network"
        value={place.chain}
        choices={chains}
        {...{ disabled }}
        onChange={setChain}
      />
      <ChoiceField
        label="Pay with"
        value={place.assetId}
        choices={assets}
        {...{ disabled }}
        onChange={setAsset}
      />
    </div>
  );
}

/** The connected wallet, or the way to connect one. */
export function WalletField({ wallet, disabled }: { wallet: EvmWallet | undefined; disabled: boolean }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div className="cw-field">
      <span className="cw-label">Wallet</span>
      {wallet === undefined ? (
        <button
          type="button"
          className="cw-button cw-button-main cw-button-wide"
          onClick={() => setIsOpen(true)}
        >
          Connect a wallet
        </button>
      ) : (
        <div className="cw-panel cw-wallet-panel cw-row cw-spread">
          <AddressText address={wallet.address} />
          <button
            type="button"
            className="cw-button cw-button-quiet cw-button-small"
            disabled={disabled}
            onClick={() => setIsOpen(true)}
          >
            Change
          </button>
        </div>
      )}
      <ConnectWalletDialog protocol="ethereum" open={isOpen} onClose={() => setIsOpen(false)} />
    </div>
  );
}

type AmountProps = {
  amount: Amount;
  limits: Limits;
  /** Whether there is a wallet whose balance is on its way. */
  hasWallet: boolean;
  disabled: boolean;
};

/** An amount in whole units, the balance, and the way to use all of it. */
export function AmountField({ amount, limits, hasWallet, disabled }: AmountProps) {
  const id = useId();
  const { balance, maximum, decimals, code } = limits;
  const most =
    balance === undefined || maximum === undefined ? balance : balance < maximum ? balance : maximum;
  return (
    <div className="cw-field">
      <div className="cw-row cw-spread">
        <label htmlFor={id}>Amount</label>
        <span className="cw-small cw-muted cw-numbers">
          {hasWallet && (
            <>
              Balance{' '}
              {balance === undefined ? (
                <Skeleton width="8ch" />
              ) : (
                <span title={formatAmount(balance, decimals)}>
                  {groupDigits(cutDecimals(formatAmount(balance, decimals), 4))} {code}
                </span>
              )}
            </>
          )}
        </span>
      </div>
      <div className="cw-amount-box">
        <input
          id={id}
          className="cw-amount-input"
          inputMode="decimal"
          autoComplete="off"
          placeholder="0.00"
          value={amount.text}
          disabled={disabled}
          aria-invalid={amount.problem !== null}
          aria-describedby={`${id}-problem`}
          onChange={(event) => amount.setText(event.target.value)}
        />
        <span className="cw-unit">{code}</span>
        <button
          type="button"
          className="cw-button cw-button-small"
          disabled={disabled || most === undefined || most === 0n}
          onClick={() => amount.setText(formatAmount(most ?? 0n, decimals))}
        >
          Max
        </button>
      </div>
      <p
        className={`cw-problem ${amount.problem === null ? '' : 'cw-problem-bad'}`}
        id={`${id}-problem`}
        aria-live="polite"
      >
        {amount.problem ?? hintOf(limits)}
      </p>
    </div>
  );
}

/** What may be paid, before anything is typed. */
function hintOf({ minimum, maximum, decimals, code }: Limits): string {
  const show = (units: bigint) => `${groupDigits(cutDecimals(formatAmount(units, decimals), 2))} ${code}`;
  if (minimum !== undefined && minimum > 0n) return `Minimum ${show(minimum)}`;
  return maximum === undefined ? '' : `Up to ${show(maximum)}`;
}

/** What it comes to. */
export function Summary({ rows }: { rows: readonly (readonly [term: string, value: ReactNode])[] }) {
  return (
    <dl className="cw-summary">
      {rows.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
