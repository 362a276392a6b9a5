import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSealing } from './sealing.ts';

const old = randomBytes(32);
const sealing = createSealing([randomBytes(32), old], randomBytes);

test('opens sealed data, but not with a flipped bit, another purpose or another context', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(), (bytes, at) => {
      const plain = Buffer.from(bytes);
      const sealed = sealing.seal('pii', plain, 'row 1');
      expect(sealing.open('pii', sealed, 'row 1')).toEqual(plain);
      expect(() => sealing.open('pii', sealed, 'row 2')).toThrow();
      expect(() => sealing.open('idempotency', sealed, 'row 1')).toThrow();
      const bit = at % (sealed.length * 8);
      const forged = Buffer.from(sealed);
      forged[bit >> 3] = (forged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => sealing.open('pii', forged, 'row 1')).toThrow();
    }),
  );
});

test('reads data of an older secret while that secret is listed', () => {
  const before = createSealing([old], randomBytes);
  const sealed = before.seal('pii', Buffer.from('x'), '');
  const tag = before.tag('cursor', 'body');
  expect(sealing.open('pii', sealed, '').toString()).toBe('x');
  expect(sealing.verifyTag('cursor', 'body', tag)).toBe(true);
  const after = createSealing([randomBytes(32)], randomBytes);
  expect(() => after.open('pii', sealed, '')).toThrow('not in CAUSEWAY_SECRET');
  expect(after.verifyTag('cursor', 'body', tag)).toBe(false);
});

test('rejects a truncated tag', () => {
  const tag = sealing.tag('cursor', 'body');
  expect(sealing.verifyTag('cursor', 'body', tag.subarray(0, 16))).toBe(true);
  expect(sealing.verifyTag('cursor', 'body', tag.subarray(0, 15))).toBe(false);
  expect(sealing.verifyTag('cursor', 'body', Buffer.alloc(0))).toBe(false);
});
