import { describe, expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { useSale } from '../../../test/support/settlement.ts';
import { makeUser, USER } from '../../../test/support/tokens.ts';
import { proveWallets } from '../../../test/support/wallets.ts';
import { releaseHold } from '../holdings/freeze.ts';
import { requestRemit } from '../participations/refunds.ts';
import { holdUser } from '../users/hold.ts';

const sale = useSale();

const rowOf = (id: string) =>
  sale.app.ctx.db
    .selectFrom('participations')
    .select(['status', 'reason', 'frozen_reason', 'commit_id', 'remit_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

const endProof = (address: string) =>
  sale.app.ctx.db.deleteFrom('wallet_proofs').where('address', '=', address).execute();

/** Puts an address on the sanctions list while `work` runs. */
async function whileSanctioned(address: string, work: () => Promise<void>): Promise<void> {
  const { sanctions } = sale.app.ctx;
  const { has } = sanctions;
  sanctions.has = (each) => each === address || has(each);
  await work().finally(() => {
    sanctions.has = has;
  });
}

describe('a commit', () => {
  test('waits while the user is on hold, with a reason for operators only, and continues after the release', async () => {
    const { id } = await sale.participate(sale.buyer(0), UNIT);
    const { settle } = saleWorker(sale);
    await holdUser(sale.app.ctx, USER, 'a secret reason');
    await settle();
    expect(await rowOf(id)).toMatchObject({ status: 'pending', frozen_reason: 'hold', commit_id: null });
    const shown = (await sale.person.call('GET', `/v1/participations/${id}`)).body;
    expect(JSON.stringify(shown)).not.toMatch(/hold|frozen|secret/);
    await releaseHold(sale.app.ctx, USER, 'cleared');
    await settle();
    expect((await rowOf(id)).commit_id).not.toBeNull();
  });

  test('is frozen by a sanction', async () => {
    const { id } = await sale.participate(sale.buyer(1), UNIT);
    await whileSanctioned(sale.buyer(1).address, async () => {
      await saleWorker(sale).settle();
    });
    expect(await rowOf(id)).toMatchObject({ status: 'pending', frozen_reason: 'sanctions', commit_id: null });
    await sale.app.ctx.db
      .updateTable('participations')
      .set({ frozen_reason: null })
      .where('id', '=', id)
      .execute();
    await saleWorker(sale).settle();
  });

  test('fails when the proof of the wallet has ended', async () => {
    const { id } = await sale.participate(sale.buyer(2), UNIT);
    await endProof(sale.buyer(2).address);
    await saleWorker(sale).settle();
    expect(await rowOf(id)).toMatchObject({ status: 'failed', reason: 'wallet_not_proven', commit_id: null });
    await proveWallets(sale.app.ctx, [sale.buyer(2).address]);
  });

  test('is decided for each row of a batch on its own', async () => {
    const { ctx } = sale.app;
    const held = await makeUser(ctx, '01890000-0000-7000-8000-00000000beef');
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) ids.push((await sale.participate(sale.buyer(i), UNIT)).id);
    const second = ids[1] ?? '';
    await proveWallets(ctx, [sale.buyer(1).address], { userId: held });
    await ctx.db.updateTable('participations').set({ user_id: held }).where('id', '=', second).execute();
    await holdUser(ctx, held, 'a reason');
    await endProof(sale.buyer(3).address);
    await saleWorker(sale).settle();
    const found = await Promise.all(ids.map(rowOf));
    expect(found.map((row) => row.commit_id !== null)).toEqual([true, false, true, false]);
    expect(found[1]).toMatchObject({ status: 'pending', frozen_reason: 'hold' });
    expect(found[3]).toMatchObject({ status: 'failed', reason: 'wallet_not_proven' });
    expect(found[0]?.commit_id).toBe(found[2]?.commit_id);
    await proveWallets(ctx, [sale.buyer(1).address, sale.buyer(3).address]);
  });

  test.each(['hold', 'sanction', 'proof'] as const)(
    'sends nothing when a lost %s arrives while it is being signed',
    async (what) => {
      const buyer = sale.buyer(3);
      const { id } = await sale.participate(buyer, UNIT);
      const { ctx } = sale.app;
      const operator = ctx.signerOf('commit', 'ethereum_sepolia');
      if (operator === null) throw new Error('no operator');
      let isListed = false;
      const { has } = ctx.sanctions;
      ctx.sanctions.has = (each) => (isListed && each === buyer.address) || has(each);
      const signer = {
        ...operator,
        signTransaction: async (call: Parameters<typeof operator.signTransaction>[0]) => {
          const signed = await operator.signTransaction(call);
          if (what === 'hold') await holdUser(ctx, USER, 'arrives in between');
          if (what === 'proof') await endProof(buyer.address);
          isListed = what === 'sanction';
          return signed;
        },
      };
      await saleWorker(sale, { signer }).settle();
      ctx.sanctions.has = has;
      expect(await rowOf(id)).toMatchObject({ commit_id: null });
      expect((await rowOf(id)).status).toBe(what === 'proof' ? 'failed' : 'pending');
      await proveWallets(ctx, [buyer.address]);
      await releaseHold(ctx, USER, 'test');
      await ctx.db.updateTable('participations').set({ frozen_reason: null }).where('id', '=', id).execute();
      await saleWorker(sale).settle();
    },
  );
});

describe('a refund', () => {
  test('that is asked for a user on hold changes nothing until the hold ends', async () => {
    const { id } = await sale.participate(sale.buyer(4), UNIT);
    const { settle } = saleWorker(sale, { refundDepth: 1 });
    for (let i = 0; i < 10 && (await rowOf(id)).status !== 'completed'; i++) {
      await settle();
      await sale.mine(3);
    }
    await holdUser(sale.app.ctx, USER, 'a reason');
    const events = await sale.eventsOf(id);
    expect((await requestRemit(sale.app.ctx, id)).status).toBe('completed');
    await settle();
    expect(await rowOf(id)).toMatchObject({ status: 'completed', frozen_reason: 'hold', remit_id: null });
    expect(await sale.eventsOf(id)).toEqual(events);
    await releaseHold(sale.app.ctx, USER, 'cleared');
    expect((await requestRemit(sale.app.ctx, id)).status).toBe('remit_submitted');
  });

  test('is stopped by a hold and by a sanction, and by nothing else', async () => {
    const buyer = sale.buyer(4);
    const { id } = await sale.participate(buyer, UNIT);
    const { settle } = saleWorker(sale, { refundDepth: 1 });
    for (let i = 0; i < 10 && (await rowOf(id)).status !== 'completed'; i++) {
      await settle();
      await sale.mine(3);
    }
    expect((await rowOf(id)).status).toBe('completed');
    await requestRemit(sale.app.ctx, id);
    await holdUser(sale.app.ctx, USER, 'a reason');
    await settle();
    expect(await rowOf(id)).toMatchObject({
      status: 'remit_submitted',
      frozen_reason: 'hold',
      remit_id: null,
    });
    await releaseHold(sale.app.ctx, USER, 'cleared');
    await whileSanctioned(buyer.address, async () => void (await settle()));
    expect(await rowOf(id)).toMatchObject({ frozen_reason: 'sanctions', remit_id: null });
    await sale.app.ctx.db
      .updateTable('participations')
      .set({ frozen_reason: null })
      .where('id', '=', id)
      .execute();
    await endProof(buyer.address);
    await settle();
    expect((await rowOf(id)).remit_id).not.toBeNull();
  });
});
