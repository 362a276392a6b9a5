const SIGNS = { up: '+', down: '−', flat: '' } as const;

/** Formats dollars with cents: `$1,234.50`. */
export function dollars(value: number): string {
  return value.toLocaleString('en', { style: 'currency', currency: 'USD' });
}

export function directionOf(percent: number): keyof typeof SIGNS {
  if (Math.abs(percent) < 0.005) return 'flat';
  return percent < 0 ? 'down' : 'up';
}

/** Shows a price change in percent and the period it covers. */
export function PriceChange({ from, to, since }: { from: number; to: number; since?: string }) {
  const percent = ((to - from) / from) * 100;
  const direction = directionOf(percent);
  return (
    <p className={`price-change ${direction}`}>
      {`${SIGNS[direction]}${Math.abs(percent).toFixed(2)}%`}
      {since !== undefined && <span className="soft"> {since}</span>}
    </p>
  );
}
