import { saleFundV2 } from '@causeway/contracts/abi/sale-fund-v2.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { createWalletClient, custom, type Hex } from 'viem';
import { sepolia } from 'viem/chains';
import { keccak256, toHex } from 'viem/utils';
import { afterEach, describe, expect, test } from 'vitest';
import { grantRoles, makeFundV2 } from '../../../test/support/fund-v2.ts';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { blockedCount, expectDatabaseToMatchFund, useSale } from '../../../test/support/settlement.ts';
import { requestRemit } from '../participations/refunds.ts';

const sale = useSale({ makeFund: makeFundV2 });
afterEach(async () => {
  sale.resumeMining();
  await sale.app.ctx.db.deleteFrom('settlement_pauses').execute();
});

async function commitmentOf(id: string): Promise<Hex> {
  const { id: installation } = await sale.app.ctx.db
    .selectFrom('installation_ids')
    .select('id')
    .executeTakeFirstOrThrow();
  return `0x${(installation + id).replaceAll('-', '')}`;
}

function readId(functionName: 'isCommitted' | 'isRemitted', commitment: Hex): Promise<boolean> {
  const { fund, chain } = sale;
  return chain.direct.readContract({
    ...{ address: fund, abi: saleFundV2.abi, functionName, args: [commitment] },
  });
}

/** Commits or refunds a row with another key that has the required roles, without the service's knowledge. */
async function sendElsewhere(kind: 'commit' | 'remit', id: string, buyer: Hex, amount: bigint) {
  const { fund, usdc, option, chain } = sale;
  await grantRoles(chain, fund, roles.deployer.address);
  const client = createWalletClient({
    account: roles.deployer,
    chain: sepolia,
    transport: custom(chain.chain),
  });
  const row = {
    id: await commitmentOf(id),
    user: buyer,
    option: keccak256(toHex(option)),
    token: usdc,
    amount,
  };
  await client.writeContract({
    ...{ address: fund, abi: saleFundV2.abi, functionName: kind, args: [row], gas: 500_000n },
    ...{ maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n },
  } as never);
}

async function pausedOffers(): Promise<string[]> {
  const rows = await sale.app.ctx.db.selectFrom('settlement_pauses').select('subject').execute();
  return rows.map(({ subject }) => subject);
}

describe('a fund of the second generation', () => {
  test('gets commits and refunds, one by one and in batches, under the ids of the participations', async () => {
    const { settle } = saleWorker(sale);
    const single = await sale.participate(sale.buyer(0), 5n * UNIT);
    await settle();
    const batch = [];
    for (const i of [1, 2, 3]) batch.push(await sale.participate(sale.buyer(i), 4n * UNIT));
    await settle();
    const created = [single, ...batch];
    for (const { id } of created) {
      expect(await sale.statusOf(id)).toBe('completed');
      expect(await readId('isCommitted', await commitmentOf(id))).toBe(true);
    }
    await requestRemit(sale.app.ctx, single.id);
    await settle();
    for (const { id } of batch.slice(0, 2)) await requestRemit(sale.app.ctx, id);
    await settle();
    for (const { id } of created.slice(0, 3)) {
      expect(await sale.statusOf(id)).toBe('remitted');
      expect(await readId('isRemitted', await commitmentOf(id))).toBe(true);
    }
    await expectDatabaseToMatchFund(sale);
  });
});

describe('a row that another transaction has settled', () => {
  test('is neither committed again nor failed, and its offer is paused', async () => {
    const { settle } = saleWorker(sale);
    const { address, approve } = sale.buyer(4);
    const { id } = await sale.participate(sale.buyer(4), 9n * UNIT);
    await approve(10n ** 12n);
    await sendElsewhere('commit', id, address, 9n * UNIT);
    await settle();
    expect(await sale.statusOf(id)).toBe('pending');
    expect(await pausedOffers()).toEqual([sale.offer.id]);
    expect(await blockedCount(sale, 'unreconciled')).toBeGreaterThan(0);
    const other = await sale.participate(sale.buyer(5), 2n * UNIT);
    await settle();
    expect(await sale.statusOf(other.id)).toBe('pending');
    expect((await sale.totalsOf(address)).count).toBe(1n);
    await sale.app.ctx.db.deleteFrom('participations').where('id', '=', id).execute();
  });

  test('is not refunded again, and its refund does not fail', async () => {
    const { settle } = saleWorker(sale);
    const { address } = sale.buyer(3);
    const { id } = await sale.participate(sale.buyer(3), 3n * UNIT);
    await settle();
    await sendElsewhere('remit', id, address, 3n * UNIT);
    await requestRemit(sale.app.ctx, id);
    await settle();
    expect(await sale.statusOf(id)).toBe('remit_submitted');
    expect(await pausedOffers()).toEqual([sale.offer.id]);
    expect((await sale.totalsOf(address)).remitted).toBe(3n * UNIT);
    await sale.app.ctx.db.deleteFrom('participations').where('id', '=', id).execute();
  });

  test('stays submitted if the other transaction was not mined yet when its own was signed', async () => {
    const { settle, round } = saleWorker(sale);
    const { address, approve } = sale.buyer(5);
    await settle();
    const { count } = await sale.totalsOf(address);
    const { id } = await sale.participate(sale.buyer(5), 8n * UNIT);
    await approve(10n ** 12n);
    sale.pauseMining();
    await sendElsewhere('commit', id, address, 8n * UNIT);
    await round();
    expect(await sale.statusOf(id)).toBe('submitted');
    await sale.mine(1);
    sale.resumeMining();
    await settle();
    expect((await sale.totalsOf(address)).count).toBe(count + 1n);
    expect(await sale.statusOf(id)).toBe('submitted');
    expect(await pausedOffers()).toEqual([sale.offer.id]);
  });
});
