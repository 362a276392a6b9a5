import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase58, encodeBase58 } from './base58.ts';

test('base58 round-trips every byte string, leading zeros included', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(4), (bytes, zeros) => {
      const padded = new Uint8Array([...new Array(zeros).fill(0), ...bytes]);
      expect(decodeBase58(encodeBase58(padded))).toEqual(padded);
    }),
  );
});

test('base58 encodes known values and rejects characters outside the alphabet', () => {
  expect(encodeBase58(new TextEncoder().encode('hello world'))).toBe('StV1DL6CwTryKyV');
  expect(encodeBase58(new Uint8Array(32))).toBe('1'.repeat(32));
  expect(() => decodeBase58('0OIl')).toThrow(TypeError);
});
