import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMetrics } from '../../kernel/metrics.ts';
import type { Context } from '../../platform/context/context.ts';
import { createPasswordQueue, findPasswordProblem, verifyPassword } from './password.ts';
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

test('two networks that flood the sign-in delay another one by a few turns', async () => {
  const ctx = { passwordQueue: createPasswordQueue(), metrics: createMetrics() } as Context;
  let verified = 0;
  const verify = async (network: string) => {
    await verifyPassword(ctx, null, 'not the password', network);
    return ++verified;
  };
  const flood = Array.from({ length: 20 }, (_, i) => verify(`198.51.100.${i % 2}`));
  expect(await verify('203.0.113.1')).toBeLessThan(8);
  await Promise.allSettled(flood);
});

test('whoever waits too long for a hash is told to try again', async () => {
  const queue = createPasswordQueue();
  await Promise.all([queue.take('198.51.100.1'), queue.take('198.51.100.2')]);
  await expect(queue.take('203.0.113.1', 1)).rejects.toMatchObject({
    code: 'unavailable',
    headers: { 'retry-after': '2' },
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
