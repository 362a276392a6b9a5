import type { ReactNode } from 'react';

/** Always with words: the colour only repeats them. */
export type Tone = 'neutral' | 'busy' | 'good' | 'attention' | 'bad';

const MARKS: Record<Tone, string> = { neutral: '○', busy: '◔', good: '✓', attention: '!', bad: '✕' };

/**
 * A status in words with a mark.
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
  return (
    <span className={`cw-badge cw-tone-${tone}`}>
      <span className="cw-badge-mark" aria-hidden="true">
        {MARKS[tone]}
      </span>
      {children}
    </span>
  );
}

/**
 * Takes the place of text that is on its way, so that nothing moves when it comes.
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
  return (
    <span
      className="cw-skeleton"
      aria-hidden="true"
      style={{ width, ...(height !== undefined && { height }) }}
    >
      {'\u200b'}
    </span>
  );
}

/** For screen readers, which cannot see a skeleton. */
export function Loading({ what }: { what: string }) {
  return (
    <span className="cw-hidden" role="status">
      Loading {what}…
    </span>
  );
}

/**
 * An address short enough for a phone; the whole of it for screen readers, on hover and when copied.
 *
 * @example
 * ```tsx
 * import { AddressText } from '@causeway/sdk/react';
 *
 * const mine = <AddressText address="0x52908400098527886e0f7030069857d2e4169ee7" />;
 * ```
 */
export function AddressText({ address }: { address: string }) {
  return (
    <span className="cw-address" title={address}>
      <span aria-hidden="true">{`${address.slice(0, 6)}…${address.slice(-4)}`}</span>
      <span className="cw-hidden">{address}</span>
    </span>
  );
}

/** Nothing to list. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="cw-empty">
      <p className="cw-empty-title">{title}</p>
      {children !== undefined && <div className="cw-muted">{children}</div>}
    </div>
  );
}

/** Says that work is going on; words stand beside it. */
export function Spinner() {
  return <span className="cw-spinner" aria-hidden="true" />;
}
