import { describe, expect, test } from 'vitest';
import type { Chain } from '../wire.ts';
import type { FlowFailure, TrustedContracts } from './flow.ts';
import { assertTrusted, assertTrustedAsset, pinsOf } from './trusted.ts';

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

describe('what the service names', () => {
  const [FUND, THIEF, USDC] = ['f1', 'd1', 'c1'].map((byte) => `0x${byte.repeat(20)}`) as [
    string,
    string,
    string,
  ];
  const token = { asset_id: 'usd-coin', address: USDC };
  const codeOf = (check: () => void) => {
    try {
      check();
      return 'accepted';
    } catch (error) {
      return (error as FlowFailure).code;
    }
  };
  const named = { ethereum_mainnet: { contracts: [FUND], tokens: { 'usd-coin': USDC } } };
  const check = (
    chain: Chain,
    published: Parameters<typeof assertTrusted>[2],
    trusted: TrustedContracts = named,
  ) => codeOf(() => assertTrusted(trusted, chain, published));

  test('is accepted only if the host named it', () => {
    expect(check('ethereum_mainnet', { address: FUND.toUpperCase().replace('0X', '0x'), token })).toBe(
      'accepted',
    );
    expect(check('ethereum_mainnet', { address: THIEF, token })).toBe('contract_not_trusted');
    const other = { asset_id: 'usd-coin', address: THIEF };
    expect(check('ethereum_mainnet', { address: FUND, token: other })).toBe('contract_not_trusted');
  });

  test.each(['usdc', 'constructor'])('is not accepted under another asset id: %s', (asset_id) => {
    const renamed = { asset_id, address: THIEF };
    expect(check('ethereum_mainnet', { address: FUND, token: renamed })).toBe('contract_not_trusted');
  });

  test('is not accepted on a network with real money that the host did not name', () => {
    expect(check('base_mainnet', { address: THIEF, token })).toBe('contract_not_trusted');
    expect(check('solana_mainnet', { address: THIEF })).toBe('contract_not_trusted');
    const suppliers = { ...named, base_mainnet: { suppliers: [THIEF] } };
    expect(check('base_mainnet', { address: THIEF, token }, suppliers)).toBe('contract_not_trusted');
    expect(check('base_sepolia', { address: THIEF, token })).toBe('accepted');
    expect(check('base_mainnet', { address: THIEF, token }, {})).toBe('accepted');
  });

  test('is not accepted as the asset that users buy', () => {
    const tokens = { ethereum_mainnet: { tokens: { aaplon: USDC } } };
    const asset = (id: string, address: string | null) =>
      codeOf(() => assertTrustedAsset(tokens, 'ethereum_mainnet', id, address));
    expect([asset('aaplon', USDC), asset('tslaon', THIEF)]).toEqual(['accepted', 'accepted']);
    expect([asset('aaplon', THIEF), asset('aaplon', null)]).toEqual(Array(2).fill('contract_not_trusted'));
  });
});
