import { encodeErrorResult, parseAbi } from 'viem/utils';
import { describe, expect, test } from 'vitest';
import { FlowError, FlowFailure, isFlowError, runFlow } from './flow.ts';
import { describeRevert } from './revert.ts';
import { hasCode, isOutage, isUnclear, readRevertData } from './wallet-error.ts';

const data = encodeErrorResult({ abi: parseAbi(['error IsPaused(uint32 flags)']), args: [4] });

describe('errors of wallets and libraries', () => {
  test.each<[string, unknown]>([
    ['a node', { code: 3, message: 'execution reverted', data }],
    ['an extension', { code: -32603, message: 'failed', data: { code: 3, data } }],
    ['a mobile wallet', { code: -32603, data: { originalError: { code: 3, data } } }],
    ['a library', new Error('call failed', { cause: { info: { error: { data } } } })],
  ])('the revert reason is found in the error of %s', async (_who, error) => {
    expect(readRevertData(error)).toBe(data);
    expect(await describeRevert(error)).toBe('IsPaused(4)');
    expect(isOutage(error)).toBe(false);
  });

  test('a reason string, an unknown selector and a plain message are described', async () => {
    const text = encodeErrorResult({ abi: parseAbi(['error Error(string reason)']), args: ['not today'] });
    expect(await describeRevert({ data: text })).toBe('not today');
    expect(await describeRevert({ data: '0x12345678' })).toBe('0x12345678');
    expect(await describeRevert(new Error('invalid opcode'))).toBe('invalid opcode');
  });

  test.each([
    { code: 4001 },
    { cause: { code: 4001 } },
    { code: 'ACTION_REJECTED' },
    { error: { code: 4001 } },
  ])('a rejection by the user is recognized in %j', async (error) => {
    const flow = runFlow<'one' | 'two', void>({}, 'one', async ({ enter }) => {
      enter('two');
      throw error;
    });
    await expect(flow).rejects.toMatchObject({ phase: 'two', code: 'user_rejected', cause: error });
  });

  test('an error that contains itself does not hang the search', () => {
    const error: Record<string, unknown> = { code: 1 };
    error.cause = error;
    expect(hasCode(error, 4001)).toBe(false);
  });

  test('an unavailable wallet is not mistaken for a revert', () => {
    for (const error of [
      { code: 4900 },
      { code: -32005 },
      new Error('request timed out'),
      new TypeError('fetch failed'),
    ])
      expect(isOutage(error)).toBe(true);
    expect(isOutage(new Error('execution reverted'))).toBe(false);
  });

  test('a wallet that fails while it sends may have sent, but not if its owner or the node refused', () => {
    const failed = ['Failed to fetch', 'Request expired.', "Non-200 status code: '502'", 'already known'];
    for (const message of failed) expect(isUnclear(new Error(message))).toBe(true);
    expect(isUnclear({ code: 4900, message: 'no' })).toBe(true);
    // MetaMask wraps its node's error.
    const wrap = (message: string, code = -32000) => ({
      ...{ code: -32603, message: 'Internal JSON-RPC error.', data: { code, message } },
    });
    const nested = ['already known', 'request timed out', "Non-200 status code: '502'", '502 Bad Gateway'];
    for (const message of nested) {
      expect(isUnclear(wrap(message))).toBe(true);
      expect(isUnclear(new Error('The call failed.', { cause: wrap(message) }))).toBe(true);
    }
    expect(isUnclear(wrap('insufficient funds for gas'))).toBe(false);
    expect(isUnclear(wrap('User rejected the network request.', 4001))).toBe(false);
    expect(isUnclear({ code: 4001, message: 'User rejected the network request.' })).toBe(false);
    expect(isUnclear({ code: -32000, message: 'insufficient funds for gas' })).toBe(false);
  });
});

test('every failure of a flow is a FlowError with its phase', async () => {
  const fail = (error: unknown, signal?: AbortSignal) =>
    runFlow<'one', void>({ signal }, 'one', () => Promise.reject(error)).catch((reason: unknown) => reason);
  expect(await fail(new FlowFailure('price_moved', 'less', { details: { a: 1 } }))).toMatchObject({
    ...{ phase: 'one', code: 'price_moved', message: 'less', details: { a: 1 } },
  });
  expect(await fail(new Error('odd'))).toMatchObject({ code: 'wallet_error', message: 'odd' });
  expect(await fail('odd')).toMatchObject({ code: 'wallet_error', message: 'odd' });
  expect(await fail(new Error('x'), AbortSignal.abort('why'))).toMatchObject({
    code: 'aborted',
    cause: 'why',
  });
  expect(isFlowError(await fail(undefined), 'wallet_error')).toBe(true);
  expect(isFlowError(new FlowError('one', 'aborted', ''), 'wallet_error')).toBe(false);
});
