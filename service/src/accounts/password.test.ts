import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findPasswordProblem } from './password.ts';
import { readNext } from './return-path.ts';
import { networkOf } from './throttle.ts';

describe('a new password', () => {
  test('is measured in characters, not in bytes or halves of emoji', () => {
    expect(findPasswordProblem('🦊🐻🐼🐨🐯🦁🐮🐷🐸', 'a@b.test')).toContain('at least');
    expect(findPasswordProblem('🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵', 'a@b.test')).toBeNull();
  });

  test('is refused when it is common in whatever case or width', () => {
    expect(findPasswordProblem('PassWord123', 'a@b.test')).toContain('guess');
    expect(findPasswordProblem('ｐａｓｓｗｏｒｄ１２３', 'a@b.test')).toContain('guess');
  });
});

describe('the network of an address', () => {
  test('of IPv6 is its /64, however it is written', () => {
    expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2');
    expect(networkOf('2001:db8::6')).toBe('2001:db8:0:0');
    expect(networkOf('::1')).toBe('0:0:0:0');
    expect(networkOf('2001:db8:1:2::')).toBe('2001:db8:1:2');
  });

  test('of IPv4 is itself', () => {
    expect(networkOf('192.0.2.7')).toBe('192.0.2.7');
    expect(networkOf('::ffff:192.0.2.7')).toBe('::ffff:192.0.2.7');
  });
});

test('whatever stands in `next`, a redirect to it stays on this site', () => {
  const pieces = fc.constantFrom(
    '/',
    '\\',
    '//',
    'interaction',
    '/interaction/',
    'abc',
    '..',
    'evil.test',
    'https:',
    '@',
    '?',
    '#',
    '%2f',
    '\t',
    '\n',
    ':',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces).map((list) => list.join('')),
      ),
      (text) => {
        const next = readNext(text);
        if (next === null) return true;
        const target = new URL(next, 'https://here.test');
        return (
          target.origin === 'https://here.test' &&
          target.pathname === next &&
          next.startsWith('/interaction/')
        );
      },
    ),
    { numRuns: 2000 },
  );
  expect(readNext('/interaction/Ab-9_x')).toBe('/interaction/Ab-9_x');
});
