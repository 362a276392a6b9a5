import type { MarketQuery } from '@causeway/sdk';
import { type PointerEvent, useId, useState } from 'react';

export type PricePoint = { at: number; price: number };

const WIDTH = 640;
const HEIGHT = 220;
const MARGIN = { top: 12, bottom: 24, right: 64 };
const RIGHT = WIDTH - MARGIN.right - 8;

type Props = {
  points: readonly PricePoint[];
  range: NonNullable<MarketQuery['range']>;
  /** Called with the point under the pointer, and with undefined when the pointer leaves the chart. */
  onPoint(point: PricePoint | undefined): void;
  isFailing: boolean;
};

/**
 * Draws a price chart as SVG. Points are evenly spaced, so that nights and weekends leave no gaps. The size of the
 * chart is fixed, so that the layout does not shift as points arrive.
 */
export function PriceChart({ points, range, onPoint, isFailing }: Props) {
  const gradientId = useId();
  const [pointed, setPointed] = useState<number>();
  const scale = scaleOf(points);
  const line = points.map(({ price }, index) => `${scale.x(index).toFixed(1)},${scale.y(price).toFixed(1)}`);
  const marked = points[pointed ?? -1] === undefined ? points.length - 1 : (pointed ?? 0);
  const floor = HEIGHT - MARGIN.bottom;
  const track = (event: PointerEvent<SVGSVGElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const x = ((event.clientX - left) / width) * WIDTH;
    const index = Math.min(points.length - 1, Math.max(0, Math.round((x / RIGHT) * (points.length - 1))));
    if (points.length < 2) return;
    setPointed(index);
    onPoint(points[index]);
  };
  const leave = () => {
    setPointed(undefined);
    onPoint(undefined);
  };
  return (
    <svg
      className="chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={describe(points)}
      onPointerMove={track}
      onPointerDown={track}
      onPointerLeave={leave}
    >
      <linearGradient id={gradientId} x1="0" y1="0" x2="0" y2="1">
        <stop offset="0" stopColor="currentColor" stopOpacity="0.22" />
        <stop offset="1" stopColor="currentColor" stopOpacity="0" />
      </linearGradient>
      {scale.ticks.map((price) => (
        <g key={price} className="tick">
          <line x1="0" x2={WIDTH - MARGIN.right} y1={scale.y(price)} y2={scale.y(price)} />
          <text x={WIDTH - MARGIN.right + 8} y={scale.y(price) + 4}>
            {price.toFixed(2)}
          </text>
        </g>
      ))}
      {points.length > 1 && (
        <>
          <polygon
            points={`0,${floor} ${line.join(' ')} ${RIGHT.toFixed(1)},${floor}`}
            fill={`url(#${gradientId})`}
          />
          <polyline points={line.join(' ')} className="line" />
        </>
      )}
      {pointed !== undefined && (
        <line className="cross" x1={scale.x(marked)} x2={scale.x(marked)} y1={MARGIN.top} y2={floor} />
      )}
      {points[marked] !== undefined && (
        <circle
          cx={scale.x(marked)}
          cy={scale.y(points[marked]?.price ?? 0)}
          r={range === '1d' || pointed !== undefined ? 4.5 : 3}
          className="dot"
        />
      )}
      {points.length > 1 &&
        ([0, points.length - 1] as const).map((index) => (
          <text
            key={index}
            className="time"
            x={scale.x(index)}
            y={HEIGHT - 6}
            textAnchor={index === 0 ? 'start' : 'end'}
          >
            {showTime(points[index]?.at ?? 0, range)}
          </text>
        ))}
      {points.length === 0 && (
        <text className="time" x={(WIDTH - MARGIN.right) / 2} y={HEIGHT / 2} textAnchor="middle">
          {isFailing ? 'No prices right now' : 'Loading prices…'}
        </text>
      )}
    </svg>
  );
}

/** A small chart without axes, for cards. */
export function Sparkline({ points, direction }: { points: readonly PricePoint[]; direction: string }) {
  const prices = points.map(({ price }) => price);
  const low = Math.min(...prices);
  const spread = Math.max(...prices) - low || 1;
  const line = prices.map(
    (price, index) =>
      `${((index / (prices.length - 1)) * 120).toFixed(1)},${(38 - ((price - low) / spread) * 36).toFixed(1)}`,
  );
  return (
    <svg className={`sparkline ${direction}`} viewBox="0 0 120 40" aria-hidden="true">
      {prices.length > 1 && <polyline points={line.join(' ')} />}
    </svg>
  );
}

function showTime(at: number, range: Props['range']): string {
  const date = new Date(at);
  if (range === '1d') return date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  const year = range === '1y' ? ({ year: 'numeric' } as const) : {};
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', ...year });
}

type Scale = { x(index: number): number; y(price: number): number; ticks: number[] };

/**
 * Returns the chart's scale, with some space above the highest price and below the lowest price. The scale spans at
 * least 0.2% of the price, so that noise does not look like a trend.
 */
function scaleOf(points: readonly PricePoint[]): Scale {
  const prices = points.map(({ price }) => price);
  const middle = prices.length === 0 ? 0 : (Math.max(...prices) + Math.min(...prices)) / 2;
  const spread = prices.length === 0 ? 1 : Math.max(...prices) - Math.min(...prices);
  const half = Math.max(spread * 0.65, middle * 0.001, 0.01);
  return {
    x: (index) => (points.length < 2 ? 0 : (index / (points.length - 1)) * RIGHT),
    y: (price) => MARGIN.top + ((middle + half - price) / (2 * half)) * (HEIGHT - MARGIN.top - MARGIN.bottom),
    ticks: prices.length === 0 ? [] : [middle + half * 0.8, middle, middle - half * 0.8],
  };
}

function describe(points: readonly PricePoint[]): string {
  const prices = points.map(({ price }) => price);
  if (prices.length === 0) return 'No prices yet';
  return `${prices.length} prices between ${Math.min(...prices).toFixed(2)} and ${Math.max(...prices).toFixed(2)} dollars`;
}
