import { expect, test } from 'vitest';
import { isLoopback } from './loopback.ts';

test.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.255.255.254', '::1', '[::1]', '::ffff:127.0.0.1'])(
  '%s is this machine',
  (host) => expect(isLoopback(host)).toBe(true),
);

test.each([
  ...['', '127.evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', 'evil.localhost'],
  ...['127.0.0.999', '127.', '128.0.0.1', '0.0.0.0', '::', '::2', '10.0.0.1', '[localhost]'],
])('%j is not, or may not be', (host) => expect(isLoopback(host)).toBe(false));
