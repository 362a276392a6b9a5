import { type ReactNode, useEffect, useState } from 'react';
import type { Tone } from './labels.ts';
import { useUi } from './ui.tsx';

const MARKS: Record<Tone, string> = { neutral: '○', busy: '◔', good: '✓', attention: '!', bad: '✕' };

/**
 * A status label with an icon.
 *
 * @example
 * ```tsx
 * import { StatusBadge } from '@causeway/sdk/react';
 *
 * const done = <StatusBadge tone="good">Completed</StatusBadge>;
 * ```
 */
export function StatusBadge({
  tone = 'neutral',
  children,
}: {
  tone?: Tone | undefined;
  children: ReactNode;
}) {
  const { cx } = useUi();
  return (
    <span className={cx(`cw-badge cw-tone-${tone}`)}>
      <span className="cw-badge-mark" aria-hidden="true">
        {MARKS[tone]}
      </span>
      {children}
    </span>
  );
}

/**
 * Reserves space for content that is loading, so that the layout does not shift.
 *
 * @example
 * ```tsx
 * import { Skeleton } from '@causeway/sdk/react';
 *
 * const title = <Skeleton width="12ch" />;
 * ```
 */
export function Skeleton({
  width = '100%',
  height,
}: {
  width?: string | undefined;
  height?: string | undefined;
}) {
  const { cx } = useUi();
  return (
    <span
      className={cx('cw-skeleton')}
      aria-hidden="true"
      style={{ width, ...(height !== undefined && { height }) }}
    >
      {'\u200b'}
    </span>
  );
}

/** Announces loading to screen readers, because skeletons are hidden from them. */
export function Loading({ children }: { children: string }) {
  return (
    <span className="cw-hidden" role="status">
      {children}
    </span>
  );
}

const isEvmAddress = (address: string) => /^0x[0-9a-f]{40}$/i.test(address);

/**
 * Returns an EVM address with its checksum (EIP-55). Returns the address unchanged until the checksum is computed, or
 * if the address is not an EVM address.
 */
function useChecksummed(address: string): string {
  const [checksummed, setChecksummed] = useState(address);
  useEffect(() => {
    if (!isEvmAddress(address)) return;
    let isStale = false;
    import('./checksum.ts').then(
      ({ toChecksummed }) => !isStale && setChecksummed(toChecksummed(address)),
      // If the module cannot be loaded, the address has no checksum but is still correct.
      () => undefined,
    );
    return () => {
      isStale = true;
    };
  }, [address]);
  return isEvmAddress(address) && checksummed.toLowerCase() === address.toLowerCase() ? checksummed : address;
}

/**
 * Shows a shortened address with its checksum. Screen readers, the tooltip and copied text get the full address.
 *
 * @example
 * ```tsx
 * import { AddressText } from '@causeway/sdk/react';
 *
 * const mine = <AddressText address="0x52908400098527886e0f7030069857d2e4169ee7" />;
 * ```
 */
export function AddressText({ address }: { address: string }) {
  const shown = useChecksummed(address);
  return (
    <span className="cw-address" title={shown}>
      <span aria-hidden="true">{`${shown.slice(0, 6)}…${shown.slice(-4)}`}</span>
      <span className="cw-hidden">{shown}</span>
    </span>
  );
}

/**
 * Shows an amount truncated to six significant digits. Never cuts off the whole part or the first two decimals. The
 * tooltip shows all digits.
 *
 * @example
 * ```tsx
 * import { TokenAmount } from '@causeway/sdk/react';
 *
 * const paid = <TokenAmount units={1500000n} unit={{ decimals: 6, code: 'USDC' }} />;
 * ```
 */
export function TokenAmount(props: { units: bigint | string; unit: { decimals: number; code: string } }) {
  const { units, unit } = props;
  const { format } = useUi();
  return (
    <span className="cw-numbers" title={format.tokenAmount(units, unit)}>
      {format.shortAmount(units, unit)}
    </span>
  );
}

/** A message shown in place of missing content. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  const { cx } = useUi();
  return (
    <div className={cx('cw-empty')}>
      <p className="cw-empty-title">{title}</p>
      {children !== undefined && <div className={cx('cw-muted')}>{children}</div>}
    </div>
  );
}

/** A progress indicator; put text beside it for screen readers. */
export function Spinner() {
  const { cx } = useUi();
  return <span className={cx('cw-spinner')} aria-hidden="true" />;
}
