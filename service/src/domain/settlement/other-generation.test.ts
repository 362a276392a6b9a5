import { otherSaleFund } from '@causeway/contracts/abi/test/other-sale-fund.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import type { Hex } from 'viem';
import { keccak256, toHex } from 'viem/utils';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeOffer } from '../../../test/support/offers.ts';
import { type Buyer, saleOfferFile, saleWorker, UNIT } from '../../../test/support/sale.ts';
import { useSale } from '../../../test/support/settlement.ts';
import type { Offer } from '../../platform/context/ports.ts';
import { listPauses } from './pause-store.ts';
import { reconcileFunds } from './reconcile-pass.ts';
import { buildReport } from './reconcile-report.ts';

const sale = useSale();

/** A third-party fund without a gas cap per row: all rows of a batch share the gas. */
let fund: Hex;
let offer: Offer;
beforeAll(async () => {
  fund = await sale.chain.create(otherSaleFund, [roles.operator.address]);
  const file = saleOfferFile(sale.chain.deployment);
  const contracts = file.contracts.map((contract) => ({ ...contract, address: fund }));
  offer = await makeOffer(sale.app.ctx, { ...file, slug: 'another-fund', contracts });
});

const option = () => offer.options[0]?.id ?? '';

async function participate(buyer: Buyer, asset_id: 'usd-coin' | 'tether'): Promise<string> {
  const token = asset_id === 'usd-coin' ? sale.usdc : sale.usdt;
  const hash = await buyer.approve(5n * UNIT, { spender: fund, token });
  const { status, body } = await sale.person.call('POST', '/v1/participations', {
    ...sale.request(buyer, 5n * UNIT, hash),
    ...{ offer_id: offer.id, offer_option_id: option(), asset_id },
  });
  expect([status, body.code]).toEqual([200, undefined]);
  return String(body.id);
}

const committed = async (buyer: Buyer, token: Hex) => {
  const args = [buyer.address, keccak256(toHex(option())), token] as const;
  const totals = await sale.chain.direct.readContract({
    ...{ address: fund, abi: otherSaleFund.abi, functionName: 'totals', args },
  });
  return totals[1];
};

describe('a sale fund of another generation', () => {
  test('is committed to in batches, and a row whose token burns all gas fails alone', async () => {
    const { settle } = saleWorker(sale);
    const [one, greedy, two] = [sale.buyer(0), sale.buyer(1), sale.buyer(2)];
    const ids = [
      await participate(one, 'usd-coin'),
      await participate(greedy, 'tether'),
      await participate(two, 'tether'),
    ];
    await greedy.approve(0n, { spender: fund, token: sale.usdt });
    await settle();
    expect(await Promise.all(ids.map(sale.statusOf))).toEqual(['completed', 'failed', 'completed']);
    expect(await committed(one, sale.usdc)).toBe(5n * UNIT);
    expect(await committed(greedy, sale.usdt)).toBe(0n);
    expect(await committed(two, sale.usdt)).toBe(5n * UNIT);
  });

  test('is compared by its events, because it keeps no totals per token', async () => {
    const { ctx } = sale.app;
    const chain = ctx.chains.evm('ethereum_sepolia');
    await reconcileFunds(ctx, chain, { seconds: 0, delayMs: 1 });
    expect(await listPauses(ctx.db)).toEqual([]);
    const report = await buildReport(ctx.db, chain);
    expect(report).toMatchObject({ agrees: true, differences: [] });
    expect(report.funds.map((each) => [each.fund, each.chain])).toContainEqual([fund, {}]);
  });
});
