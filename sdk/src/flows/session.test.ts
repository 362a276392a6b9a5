import { expect, test } from 'vitest';
import { createCauseway } from '../client.ts';
import type { FlowOptions } from './flow.ts';
import { openWalletSession } from './session.ts';

const causeway = createCauseway({ baseUrl: 'https://causeway.example', accessToken: 't' });
const open = (options: FlowOptions<never>) => {
  const wallet = { address: '0x1', chain: 'base_sepolia' } as const;
  const { confirmationTimeoutMs, pollIntervalMs } = openWalletSession(
    causeway,
    wallet,
    options,
    () => undefined,
  );
  return [confirmationTimeoutMs, pollIntervalMs];
};

test('option names of version 0.1 still work, and the new names win', () => {
  expect(open({})).toEqual([600_000, 2_000]);
  expect(open({ confirmWithin: 5, pollEvery: 7 })).toEqual([5, 7]);
  expect(open({ confirmWithin: 5, pollEvery: 7, confirmationTimeoutMs: 50, pollIntervalMs: 70 })).toEqual([
    50, 70,
  ]);
});
