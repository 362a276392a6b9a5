import { type ReactNode, useEffect, useState } from 'react';
import { useUi } from './ui.tsx';

export type CountdownProps = {
  /** The end time, as an ISO timestamp. */
  to: string;
  /** The text before the time, such as "Ends in". */
  label?: string | undefined;
  /** Shown once the time is up. */
  over?: ReactNode;
  onOver?: (() => void) | undefined;
};

type Parts = readonly (readonly [value: string, unit: 'd' | 'h' | 'm' | 's'])[];
const PLACEHOLDER: Parts = [
  ['–', 'd'],
  ['––', 'h'],
  ['––', 'm'],
  ['––', 's'],
];

/**
 * Shows a countdown that updates every second. Screen readers get the end time instead of an announcement every second.
 *
 * @example
 * ```tsx
 * import { Countdown } from '@causeway/sdk/react';
 *
 * const ends = <Countdown to="2030-01-01T00:00:00.000000Z" label="Ends in" over="This offer has ended." />;
 * ```
 */
export function Countdown({ to, label, over = null, onOver }: CountdownProps) {
  const { cx, t } = useUi();
  const end = Date.parse(to);
  const now = useNow(end);
  const isOver = now !== null && now >= end;
  useEffect(() => {
    if (isOver) onOver?.();
  }, [isOver]);
  if (isOver) return <span className={cx('cw-countdown')}>{over}</span>;
  const parts = now === null ? PLACEHOLDER : partsOf(end - now);
  return (
    <span className={cx('cw-countdown')}>
      {label !== undefined && <span className="cw-countdown-label">{label} </span>}
      <time dateTime={to} title={new Date(end).toUTCString()} className="cw-countdown-parts">
        {parts.map(([value, unit]) => (
          <span key={unit} className="cw-countdown-part">
            <b>{value}</b>
            <span>{t(unit)}</span>
          </span>
        ))}
      </time>
    </span>
  );
}

/**
 * Returns the current time, updated every second until `end`. Returns null until the component mounts: the first render
 * must be the same on the server and in the browser, although their clocks may differ.
 */
function useNow(end: number): number | null {
  const [now, setNow] = useState<number | null>(null);
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => {
      setNow(Date.now());
      if (Date.now() >= end) clearInterval(timer);
    }, 1_000);
    return () => clearInterval(timer);
  }, [end]);
  return now;
}

function partsOf(remainingMs: number): Parts {
  const seconds = Math.max(0, Math.ceil(remainingMs / 1_000));
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  const days = Math.floor(seconds / 86_400);
  const clock = [
    [twoDigits(Math.floor(seconds / 3_600) % 24), 'h'],
    [twoDigits(Math.floor(seconds / 60) % 60), 'm'],
    [twoDigits(seconds % 60), 's'],
  ] as const;
  if (days > 0) return [[String(days), 'd'], ...clock];
  return seconds < 3_600 ? clock.slice(1) : clock;
}
