import { afterEach, expect, test, vi } from 'vitest';
import type { Session } from './session.ts';
import { simulate } from './transaction.ts';

afterEach(() => void vi.useRealTimers());

test('a call that the node does not answer is an outage, not a call that the contract rejects', async () => {
  vi.useFakeTimers();
  const provider = { request: () => new Promise<never>(() => undefined) };
  const session = { wallet: { provider }, address: `0x${'1'.repeat(40)}` } as unknown as Session;
  const simulated = simulate(session, { to: `0x${'2'.repeat(40)}`, data: '0x' }).catch((error) => error);
  await vi.runAllTimersAsync();
  expect(await simulated).not.toHaveProperty('code');
  expect(await simulated).toHaveProperty('message', 'eth_call timed out.');
});
