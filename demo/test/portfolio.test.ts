import type { Causeway, OfferDetails, Participation, TokenizedSwapOrder } from '@causeway/sdk';
import { expect, test } from 'vitest';
import { fromParticipation, hasReceipt, historyTable } from '../page/src/portfolio/history.ts';
import { loadPortfolio } from '../page/src/portfolio/load.ts';

const MINE = '0xAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAa';
const OTHER = '0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb';
const UNIT = 10n ** 18n;

const apple = {
  ...{ id: 'apple', slug: 'apple', type: 'tokenized::swap', name: 'Apple', options: [] },
  asset: { id: 'aapl', code: 'AAPLon', name: 'Apple', fractional_digits: 18 },
  funding_assets: [{ id: 'usd-coin', code: 'USDC', name: 'USD Coin', fractional_digits: 6 }],
  contracts: [
    {
      ...{ chain: 'ethereum_sepolia', asset_address: '0x1', address: '0x2' },
      funding_tokens: [{ asset_id: 'usd-coin', address: '0x3', decimals: 6 }],
    },
  ],
} as unknown as OfferDetails;

const order = (id: string, wallet_address: string, dollars: number) =>
  ({
    ...{ id, symbol: 'AAPLon', chain: 'ethereum_sepolia', wallet_address, status: 'executed' },
    ...{ amount: `${dollars}000000`, fee: '0', receive_output_amount: UNIT.toString() },
    ...{ transaction_hash: '0x4', inserted_at: `2026-01-0${id}T00:00:00.000000Z` },
  }) as TokenizedSwapOrder;

/**
 * Responds as the service would while the market is closed, for a user who has bought one token with each of two
 * wallets.
 */
const client = {
  participations: { list: async () => ({ data: [] }) },
  offers: { list: async () => ({ data: [apple] }), get: async () => apple },
  token: { balance: async () => ({ balance: UNIT.toString() }) },
  tokenized: {
    orders: async () => ({ data: [order('1', MINE.toLowerCase(), 100), order('2', OTHER, 900)] }),
    tradingStatus: async () => ({ tradable: false }),
    market: async () => ({ prices: { data: [{ price: '90' }, { price: '120' }] } }),
  },
} as unknown as Causeway;

test('a holding costs what its wallet paid, and is valued at the last recorded price while the market is closed', async () => {
  const { holdings, history } = await loadPortfolio(client, [], MINE);
  expect(history).toHaveLength(2);
  expect(holdings).toMatchObject([{ cost: 100_000_000n, value: 120_000_000n, gain: 20_000_000n }]);
});

test('the quantity of a sale is an estimate, and only settled money has a receipt', () => {
  const sale = { ...apple, type: 'platform::token_sale', options: [{ id: 'one', price_usd: '2' }] };
  const entry = (status: Participation['status']) =>
    fromParticipation(
      {
        ...{ id: '1', offer_option_id: 'one', amount: '3000000', status, chain: 'ethereum_sepolia' },
        ...{ asset: apple.funding_assets[0], inserted_at: '2026-01-01T00:00:00.000000Z' },
      } as unknown as Participation,
      sale as unknown as OfferDetails,
    );
  expect(entry('completed').received).toMatchObject({ units: (3n * UNIT) / 2n, isEstimate: true });
  expect(historyTable([entry('completed')])[1]).toEqual(expect.arrayContaining(['1.5', 'estimated']));
  const statuses = ['prepared', 'pending', 'submitted', 'failed', 'remit_submitted'] as const;
  expect(statuses.filter((status) => hasReceipt(entry(status)))).toEqual([]);
  expect((['completed', 'remitted'] as const).every((status) => hasReceipt(entry(status)))).toBe(true);
});
