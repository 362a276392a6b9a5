import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { encodeQr, qrCode } from './qr-code.ts';

const draw = (text: string) =>
  encodeQr(Buffer.from(text))
    .map((row) => row.map((isDark) => (isDark ? '1' : '0')).join(''))
    .join('\n');
const digest = (text: string) => createHash('sha256').update(draw(text)).digest('hex').slice(0, 16);

// An independent decoder (jsQR 1.4.0) has read these codes; the digests detect any later change.
test.each([
  [10, 21, 'e8cd73f75a17026f'],
  [90, 41, '2be68f36037e3aed'],
  [130, 49, 'e3a9d08488c17ab7'],
  [260, 65, 'dd2ea04d035114c2'],
  [600, 93, 'b89f9cf4cd792672'],
] as const)('%i bytes give %i modules a side, as before', (length, size, expected) => {
  const text = 'otpauth://totp/Causeway:'.padEnd(length, 'x').slice(0, length);
  expect([draw(text).split('\n').length, digest(text)]).toEqual([size, expected]);
});

test('the drawing has a quiet zone and a name', () => {
  expect(qrCode('x').markup).toMatch(/^<svg viewBox="0 0 29 29" role="img" aria-label="QR code"/);
});

test('data that fits into no code is refused', () => {
  expect(() => encodeQr(Buffer.alloc(1000))).toThrow(/do not fit/);
});
