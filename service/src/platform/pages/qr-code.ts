import { type Html, html } from '../../kernel/html.ts';

/**
 * Tables for QR codes (ISO/IEC 18004) in byte mode with medium error correction. Both tables are indexed by version
 * minus 1, for versions 1 to 20.
 */
const CHECK_BYTES_PER_BLOCK = [
  10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26,
];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];
/** The format bits of medium error correction with mask 0 (§7.9). */
const FORMAT_BITS = 0b101010000010010;
const QUIET_ZONE = 4;

/** Renders the text as an inline SVG. The code is dark on light in both themes, as scanners require. */
export function qrCode(text: string): Html {
  const modules = encodeQr(Buffer.from(text));
  const size = modules.length + 2 * QUIET_ZONE;
  const path = modules
    .flatMap((row, y) =>
      row.map((isDark, x) => (isDark ? `M${x + QUIET_ZONE} ${y + QUIET_ZONE}h1v1h-1z` : '')),
    )
    .join('');
  return html`<svg viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${path}"/></svg>`;
}

/** Returns the modules of the QR code, row by row; true is dark. Throws if the data does not fit into version 20. */
export function encodeQr(data: Buffer): boolean[][] {
  const version = BLOCKS.findIndex((_, i) => data.length <= capacityOf(i + 1)) + 1;
  if (version === 0)
    throw new Error(`${data.length} bytes do not fit into a version 20 QR code, the largest supported`);
  const grid = newGrid(version);
  placeData(grid, addCheckBytes(toCodewords(data, version), version));
  return grid.dark;
}

type Grid = { size: number; dark: boolean[][]; isFixed: boolean[][] };

/** Counts the modules that hold data and check bits. */
function countDataModules(version: number): number {
  const aligned = version === 1 ? 0 : Math.floor(version / 7) + 2;
  const total = (16 * version + 128) * version + 64;
  const withoutAlignment = version === 1 ? total : total - ((25 * aligned - 10) * aligned - 55);
  return version >= 7 ? withoutAlignment - 36 : withoutAlignment;
}

function countDataBytes(version: number): number {
  const check = (CHECK_BYTES_PER_BLOCK[version - 1] ?? 0) * (BLOCKS[version - 1] ?? 0);
  return Math.floor(countDataModules(version) / 8) - check;
}

const lengthBits = (version: number) => (version < 10 ? 8 : 16);
const capacityOf = (version: number) => countDataBytes(version) - Math.ceil((4 + lengthBits(version)) / 8);

function toCodewords(data: Buffer, version: number): number[] {
  const bits = [
    '0100',
    data.length.toString(2).padStart(lengthBits(version), '0'),
    ...[...data].map((byte) => byte.toString(2).padStart(8, '0')),
    '0000',
  ].join('');
  const bytes = (bits.match(/.{1,8}/g) ?? []).map((each) => Number.parseInt(each.padEnd(8, '0'), 2));
  const capacity = countDataBytes(version);
  for (let i = 0; bytes.length < capacity; i++) bytes.push(i % 2 === 0 ? 0xec : 0x11);
  return bytes.slice(0, capacity);
}

/** Splits the data into blocks, appends each block's check bytes (§7.5) and interleaves the blocks (§7.6). */
function addCheckBytes(data: readonly number[], version: number): number[] {
  const blocks = BLOCKS[version - 1] ?? 1;
  const checkLength = CHECK_BYTES_PER_BLOCK[version - 1] ?? 0;
  const shortLength = Math.floor(data.length / blocks);
  const longBlocks = data.length % blocks;
  const divisor = reedSolomonDivisor(checkLength);
  let start = 0;
  const parts = Array.from({ length: blocks }, (_, i) => {
    const end = start + shortLength + (i >= blocks - longBlocks ? 1 : 0);
    const part = data.slice(start, end);
    start = end;
    return part;
  });
  const checks = parts.map((part) => reedSolomonRemainder(part, divisor));
  const interleave = (lists: readonly (readonly number[])[], length: number) =>
    Array.from({ length }, (_, i) => lists.flatMap((list) => list[i] ?? [])).flat();
  return [...interleave(parts, shortLength + 1), ...interleave(checks, checkLength)];
}

/** Multiplies in the field GF(2⁸) modulo the polynomial 0x11d. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((b >>> bit) & 1) * a;
  }
  return product;
}

function reedSolomonDivisor(degree: number): number[] {
  const divisor = [...new Array<number>(degree - 1).fill(0), 1];
  let root = 1;
  for (let i = 0; i < degree; i++) {
    for (let j = 0; j < degree; j++) divisor[j] = multiply(divisor[j] ?? 0, root) ^ (divisor[j + 1] ?? 0);
    root = multiply(root, 2);
  }
  return divisor;
}

function reedSolomonRemainder(data: readonly number[], divisor: readonly number[]): number[] {
  const remainder = new Array<number>(divisor.length).fill(0);
  for (const byte of data) {
    const factor = byte ^ (remainder.shift() ?? 0);
    remainder.push(0);
    for (const [i, coefficient] of divisor.entries())
      remainder[i] = (remainder[i] ?? 0) ^ multiply(coefficient, factor);
  }
  return remainder;
}

/** Returns a grid with everything but the data: finders, timing, alignment, format and version (§6.3). */
function newGrid(version: number): Grid {
  const size = version * 4 + 17;
  const rows = () => Array.from({ length: size }, () => new Array<boolean>(size).fill(false));
  const grid: Grid = { size, dark: rows(), isFixed: rows() };
  for (let i = 0; i < size; i++) {
    setFixed(grid, 6, i, i % 2 === 0);
    setFixed(grid, i, 6, i % 2 === 0);
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    drawSquares(grid, x, y, 4, (distance) => distance !== 2 && distance !== 4);
  const centres = alignmentCentres(version, size);
  const isFinder = (x: number, y: number) =>
    (x === 6 && y === 6) || (x === 6 && y === size - 7) || (x === size - 7 && y === 6);
  for (const x of centres)
    for (const y of centres) if (!isFinder(x, y)) drawSquares(grid, x, y, 2, (distance) => distance !== 1);
  drawFormat(grid);
  if (version >= 7) drawVersion(grid, version);
  return grid;
}

function setFixed({ size, dark, isFixed }: Grid, x: number, y: number, isDark: boolean): void {
  const [row, fixedRow] = [dark[y], isFixed[y]];
  if (row === undefined || fixedRow === undefined || x < 0 || x >= size) return;
  row[x] = isDark;
  fixedRow[x] = true;
}

function drawSquares(
  grid: Grid,
  x: number,
  y: number,
  radius: number,
  isDark: (distance: number) => boolean,
): void {
  for (let dy = -radius; dy <= radius; dy++)
    for (let dx = -radius; dx <= radius; dx++)
      setFixed(grid, x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
}

function alignmentCentres(version: number, size: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  const others = Array.from({ length: count - 1 }, (_, i) => size - 7 - i * step);
  return [6, ...others.reverse()];
}

function drawFormat(grid: Grid): void {
  const { size } = grid;
  const bit = (i: number) => ((FORMAT_BITS >>> i) & 1) === 1;
  for (let i = 0; i <= 5; i++) setFixed(grid, 8, i, bit(i));
  setFixed(grid, 8, 7, bit(6));
  setFixed(grid, 8, 8, bit(7));
  setFixed(grid, 7, 8, bit(8));
  for (let i = 9; i < 15; i++) setFixed(grid, 14 - i, 8, bit(i));
  for (let i = 0; i < 8; i++) setFixed(grid, size - 1 - i, 8, bit(i));
  for (let i = 8; i < 15; i++) setFixed(grid, 8, size - 15 + i, bit(i));
  setFixed(grid, 8, size - 8, true);
}

function drawVersion(grid: Grid, version: number): void {
  let remainder = version;
  for (let i = 0; i < 12; i++) remainder = (remainder << 1) ^ ((remainder >>> 11) * 0x1f25);
  const bits = (version << 12) | remainder;
  for (let i = 0; i < 18; i++) {
    const isDark = ((bits >>> i) & 1) === 1;
    const [a, b] = [grid.size - 11 + (i % 3), Math.floor(i / 3)];
    setFixed(grid, a, b, isDark);
    setFixed(grid, b, a, isDark);
  }
}

/**
 * Places the bits in zigzag columns (§7.7.3). Applies mask 0, which inverts every module whose row plus column is even.
 */
function placeData({ size, dark, isFixed }: Grid, bytes: readonly number[]): void {
  let next = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let vertical = 0; vertical < size; vertical++) {
      for (const x of [right, right - 1]) {
        const y = ((right + 1) & 2) === 0 ? size - 1 - vertical : vertical;
        const row = dark[y];
        if (row === undefined || isFixed[y]?.[x] !== false) continue;
        const bit = ((bytes[next >>> 3] ?? 0) >>> (7 - (next & 7))) & 1;
        next++;
        row[x] = (bit === 1) !== ((x + y) % 2 === 0);
      }
    }
  }
}
