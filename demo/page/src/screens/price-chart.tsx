import { useId } from 'react';

export type PricePoint = { at: number; price: number };

const WIDTH = 640;
const HEIGHT = 220;
const MIN_SPAN_MS = 20_000;
const MARGIN = { top: 12, bottom: 24, right: 64 };

/** Draws a price chart as SVG. Its size is fixed, so that the layout does not shift as points arrive. */
export function PriceChart({ points }: { points: readonly PricePoint[] }) {
  const gradientId = useId();
  const scale = scaleOf(points);
  const line = points.map(({ at, price }) => `${scale.x(at).toFixed(1)},${scale.y(price).toFixed(1)}`);
  const last = points.at(-1);
  const floor = HEIGHT - MARGIN.bottom;
  return (
    <svg className="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={describe(points)}>
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
            points={`${scale.x(points[0]?.at ?? 0).toFixed(1)},${floor} ${line.join(' ')} ${scale.x(last?.at ?? 0).toFixed(1)},${floor}`}
            fill={`url(#${gradientId})`}
          />
          <polyline points={line.join(' ')} className="line" />
        </>
      )}
      {last !== undefined && (
        <circle cx={scale.x(last.at)} cy={scale.y(last.price)} r="4.5" className="dot" />
      )}
      {scale.times.map(({ at, anchor }) => (
        <text key={anchor} className="time" x={scale.x(at)} y={HEIGHT - 6} textAnchor={anchor}>
          {new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' })}
        </text>
      ))}
      {points.length === 0 && (
        <text className="time" x={(WIDTH - MARGIN.right) / 2} y={HEIGHT / 2} textAnchor="middle">
          Waiting for the first price…
        </text>
      )}
    </svg>
  );
}

type Scale = {
  x(at: number): number;
  y(price: number): number;
  ticks: number[];
  times: { at: number; anchor: 'start' | 'end' }[];
};

/** Leaves a margin above and below, of at least 0.1% of the price, so that noise does not look like a trend. */
function scaleOf(points: readonly PricePoint[]): Scale {
  const prices = points.map(({ price }) => price);
  const middle = prices.length === 0 ? 0 : (Math.max(...prices) + Math.min(...prices)) / 2;
  const spread = prices.length === 0 ? 1 : Math.max(...prices) - Math.min(...prices);
  const half = Math.max(spread * 0.65, middle * 0.001, 0.01);
  const start = points[0]?.at ?? 0;
  const end = Math.max(points.at(-1)?.at ?? 0, start + MIN_SPAN_MS);
  const right = WIDTH - MARGIN.right;
  return {
    x: (at) => ((at - start) / (end - start)) * (right - 8),
    y: (price) => MARGIN.top + ((middle + half - price) / (2 * half)) * (HEIGHT - MARGIN.top - MARGIN.bottom),
    ticks: prices.length === 0 ? [] : [middle + half * 0.8, middle, middle - half * 0.8],
    times:
      points.length < 2
        ? []
        : [
            { at: start, anchor: 'start' },
            { at: end, anchor: 'end' },
          ],
  };
}

function describe(points: readonly PricePoint[]): string {
  const prices = points.map(({ price }) => price);
  if (prices.length === 0) return 'No prices yet';
  return `${prices.length} prices between ${Math.min(...prices).toFixed(2)} and ${Math.max(...prices).toFixed(2)} dollars`;
}
