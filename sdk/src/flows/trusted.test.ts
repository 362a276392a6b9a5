import { expect, test } from 'vitest';
import { pinsOf } from './trusted.ts';

const MANAGER = `0x${'ab'.repeat(20)}`;

test('with real money, an order is checked against named contracts and managers only', () => {
  expect(pinsOf(undefined, 'base_mainnet')).toEqual({ contracts: [], venue_managers: [] });
  const { contracts, venue_managers } = pinsOf(undefined, 'ethereum_mainnet');
  expect([contracts, venue_managers?.length]).toEqual([[], 1]);
  const named = { base_mainnet: { contracts: [MANAGER], venueManagers: [MANAGER] } };
  expect(pinsOf(named, 'base_mainnet')).toEqual({ contracts: [MANAGER], venue_managers: [MANAGER] });
});

test('on test networks, what the host does not name is not checked', () => {
  expect(pinsOf(undefined, 'base_sepolia')).toEqual({ contracts: undefined, venue_managers: undefined });
});
