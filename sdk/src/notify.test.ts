import { afterEach, expect, test, vi } from 'vitest';
import { notify } from './notify.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const error = new Error('thrown by the app');
const fail = () => {
  throw error;
};
const failLater = async () => fail();

test.each([
  ['a page', { document: {} }, 'reportError'],
  ['a page of an older browser', { document: {}, reportError: undefined }, 'console'],
  ['a server, even if it would exit after an uncaught error', {}, 'console'],
])('the error of a callback is reported in %s', async (_where, globals, expected) => {
  const reported: unknown[] = [];
  vi.stubGlobal('reportError', (thrown: unknown) => reported.push(['reportError', thrown]));
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
  vi.spyOn(console, 'error').mockImplementation((thrown) => void reported.push(['console', thrown]));
  notify(fail, 1);
  notify(failLater, 1);
  notify(undefined, 1);
  await vi.waitFor(() => expect(reported).toHaveLength(2), { timeout: 30_000 });
  expect(reported).toEqual([
    [expected, error],
    [expected, error],
  ]);
});
