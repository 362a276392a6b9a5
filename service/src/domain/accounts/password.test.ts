import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findPasswordProblem } from './password.ts';
import { parseReturnPath } from './sign-in-request.ts';

describe('new passwords', () => {
  test('the length counts characters, not bytes or UTF-16 code units', () => {
    expect(findPasswordProblem('🦊🐻🐼🐨🐯🦁🐮🐷🐸', 'a@b.test')).toContain('at least');
    expect(findPasswordProblem('🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵', 'a@b.test')).toBeNull();
  });

  test('common passwords are rejected regardless of case and character width', () => {
    expect(findPasswordProblem('PassWord123', 'a@b.test')).toContain('guess');
    expect(findPasswordProblem('ｐａｓｓｗｏｒｄ１２３', 'a@b.test')).toContain('guess');
  });
});

test('no value of `next` redirects to another site', () => {
  const fragments = fc.constantFrom(
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
        fc.array(fragments).map((list) => list.join('')),
      ),
      (text) => {
        const path = parseReturnPath(text);
        if (path === null) return true;
        const target = new URL(path, 'https://here.test');
        return (
          target.origin === 'https://here.test' &&
          target.pathname === path &&
          path.startsWith('/interaction/')
        );
      },
    ),
    { numRuns: 2000 },
  );
  expect(parseReturnPath('/interaction/Ab-9_x')).toBe('/interaction/Ab-9_x');
});
