import * as Plot from '@observablehq/plot';
import domino from 'domino';

const THEMES = {
  light: { background: '#ffffff', text: '#1f2937', muted: '#9ca3af', accent: '#0f766e', limit: '#b91c1c' },
  dark: { background: '#0d1117', text: '#e6edf3', muted: '#6e7681', accent: '#2dd4bf', limit: '#f87171' },
};
const WIDTH = 960;
const ROW_HEIGHT = 26;

/** Draws one plot and returns it as the text of an SVG file. The same options always give the same text. */
function draw(theme, options) {
  const document = domino.createDocument('<html></html>');
  const { background, text } = THEMES[theme];
  const style = { background, color: text, fontSize: '12px' };
  const svg = Plot.plot({ document, width: WIDTH, ...options, style });
  // A standalone SVG file must declare its namespace.
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return `${svg.outerHTML}\n`;
}

export function drawRatios(rows, theme) {
  const { muted, accent, limit } = THEMES[theme];
  const y = (row) => row.label;
  return draw(theme, {
    height: 70 + ROW_HEIGHT * rows.length,
    marginLeft: 470,
    marginRight: 60,
    x: {
      type: 'log',
      label: 'relative to the limit (logarithmic)',
      grid: true,
      tickFormat: (value) => `${value}×`,
    },
    y: { label: null, domain: rows.map(y) },
    marks: [
      Plot.ruleX([1], { stroke: limit, strokeWidth: 2 }),
      Plot.ruleY(rows, {
        y,
        x1: (row) => row.lowest / row.limit,
        x2: (row) => row.highest / row.limit,
        stroke: accent,
        strokeWidth: 3,
      }),
      Plot.dot(rows, { y, x: (row) => row.value / row.limit, fill: accent, r: 5 }),
      Plot.dot(
        rows.filter((row) => row.goal !== undefined),
        { y, x: (row) => row.goal / row.limit, stroke: muted, symbol: 'diamond', r: 5 },
      ),
    ],
  });
}

export function drawLatencies(rows, theme) {
  const { accent, muted } = THEMES[theme];
  const targets = [...new Set(rows.map((row) => row.target))];
  const shades = ['p50', 'p75', 'p90', 'p99'];
  return draw(theme, {
    height: 70 + ROW_HEIGHT * targets.length,
    marginLeft: 470,
    marginRight: 60,
    x: { type: 'log', label: 'milliseconds (logarithmic)', grid: true },
    y: { label: null, domain: targets },
    marks: [
      Plot.ruleY(targets, {
        y: (target) => target,
        x1: (target) => edge(rows, target, Math.min),
        x2: (target) => edge(rows, target, Math.max),
        stroke: muted,
        strokeWidth: 2,
      }),
      Plot.dot(rows, {
        y: 'target',
        x: 'ms',
        fill: accent,
        fillOpacity: (row) => 0.35 + 0.2 * shades.indexOf(row.percentile),
        r: 5,
      }),
      Plot.text(
        rows.filter((row) => row.percentile === 'p99'),
        { y: 'target', x: 'ms', text: 'percentile', dx: 8, textAnchor: 'start' },
      ),
    ],
  });
}

function edge(rows, target, pick) {
  return pick(...rows.filter((row) => row.target === target).map((row) => row.ms));
}

export function drawGrowth(rows, theme) {
  const { muted, accent } = THEMES[theme];
  const curves = [...new Set(rows.map((row) => row.curve))];
  const ends = curves.map((curve) => rows.filter((row) => row.curve === curve).at(-1));
  const largest = Math.max(...rows.map((row) => row.times));
  return draw(theme, {
    height: 420,
    marginLeft: 60,
    marginRight: 400,
    x: {
      type: 'log',
      label: 'size, relative to the smallest',
      tickFormat: (value) => `${value}×`,
      domain: [1, largest],
    },
    y: {
      type: 'log',
      label: 'CPU time per operation, relative',
      grid: true,
      tickFormat: (value) => `${value}×`,
      domain: [0.5, 100],
    },
    marks: [
      Plot.line(
        [
          [1, 1],
          [100, 100],
        ],
        { stroke: muted, strokeDasharray: '4 4' },
      ),
      Plot.ruleY([1], { stroke: muted, strokeDasharray: '4 4' }),
      Plot.line(rows, {
        x: 'times',
        y: 'cost',
        z: 'curve',
        stroke: accent,
        strokeOpacity: 0.7,
        marker: 'dot',
      }),
      Plot.text(spreadLabels(ends), { x: largest, y: 'at', text: 'label', dx: 10, textAnchor: 'start' }),
    ],
  });
}

/** Moves the labels at the ends of the curves apart, so that the labels do not overlap on the logarithmic scale. */
function spreadLabels(ends) {
  const step = 1.18;
  let last = 0;
  return ends
    .toSorted((a, b) => a.cost - b.cost)
    .map(({ curve, cost }) => {
      last = Math.max(cost, last * step, 0.55);
      return { at: last, label: `${curve}: ${cost.toFixed(2)}×` };
    });
}
