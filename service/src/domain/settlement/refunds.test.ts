import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { sql } from 'kysely';
import { toHex } from 'viem/utils';
import { describe, expect, test, vi } from 'vitest';
import { type Buyer, saleWorker, UNIT } from '../../../test/support/sale.ts';
import {
  expectDatabaseToMatchFund,
  operatorNonce,
  sendForeignTransaction,
  useSale,
} from '../../../test/support/settlement.ts';
import { USER } from '../../../test/support/tokens.ts';
import { eraseUser } from '../erasure/erasure.ts';
import { requestRemit } from '../participations/refunds.ts';
import { adoptNonce } from './adopt.ts';

const sale = useSale();

/** Mines `blocks` blocks, and settles before and after each of them. */
async function settleOver(blocks: number): Promise<void> {
  const { settle } = saleWorker(sale, { timings: { resendSeconds: 0, nonceGraceMs: 0 } });
  for (let block = 0; block < blocks; block++) {
    await settle();
    await sale.mine(1);
  }
  await settle();
}

async function completeParticipation(buyer: Buyer, amount: bigint): Promise<string> {
  const { id } = await sale.participate(buyer, amount);
  await saleWorker(sale).settle();
  expect(await sale.statusOf(id)).toBe('completed');
  return id;
}

async function refund(...ids: string[]): Promise<void> {
  for (const id of ids) await requestRemit(sale.app.ctx, id);
  await saleWorker(sale).settle();
  for (const id of ids) expect(await sale.statusOf(id)).toBe('remitted');
}

const dropBlocks = (depth: number) => sale.chain.chain.reorg({ depth, transactions: 'drop' });

test('a refund is paid once no matter how often it is requested', async () => {
  const { settle } = saleWorker(sale);
  const { id } = await sale.participate(sale.buyer(2), 13n * UNIT);
  await settle();
  const before = await sale.totalsOf(sale.buyer(2).address);
  await Promise.all([requestRemit(sale.app.ctx, id), requestRemit(sale.app.ctx, id)]);
  await settle();
  await requestRemit(sale.app.ctx, id);
  await settle();
  expect(await sale.statusOf(id)).toBe('remitted');
  expect((await sale.eventsOf(id)).slice(-2)).toEqual(['remit_submitted', 'remitted']);
  expect((await sale.totalsOf(sale.buyer(2).address)).remitted - before.remitted).toBe(13n * UNIT);
});

test('a batch of refunds survives a reorganisation', async () => {
  const { settle } = saleWorker(sale, { timings: { resendSeconds: 0 } });
  const ids = [
    (await sale.participate(sale.buyer(2), 2n * UNIT)).id,
    (await sale.participate(sale.buyer(3), 2n * UNIT)).id,
  ];
  await settle();
  for (const id of ids) await requestRemit(sale.app.ctx, id);
  await settle();
  await sale.chain.chain.reorg({ depth: 1, transactions: 'drop' });
  await settle();
  await settle();
  for (const id of ids) expect(await sale.statusOf(id)).toBe('remitted');
  const rows = await sale.app.ctx.db
    .selectFrom('participations')
    .select('remit_id')
    .where('id', 'in', ids)
    .execute();
  expect(new Set(rows.map(({ remit_id }) => remit_id)).size).toBe(1);
});

test('a refund fails if the fund cannot pay, and can be requested again', async () => {
  const { settle } = saleWorker(sale);
  const { id } = await sale.participate(sale.buyer(4), 17n * UNIT);
  await settle();
  const balance = (await sale.chain.direct.readContract({
    ...{ address: sale.fund, abi: saleFund.abi, functionName: 'fundingTokenBalance', args: [sale.usdc] },
  })) as bigint;
  const owner = roles.owner.address;
  await sale.chain.owner.writeContract({
    ...{ address: sale.fund, abi: saleFund.abi, functionName: 'withdraw', gas: 200_000n },
    args: [sale.usdc, owner, balance],
  });
  await requestRemit(sale.app.ctx, id);
  await settle();
  expect(await sale.statusOf(id)).toBe('remit_failed');
  expect(await sale.reasonOf(id)).toContain('RemitFailed');
  // The refund is still owed, so the user cannot be erased.
  await expect(eraseUser(sale.app.ctx, USER, 'requested')).rejects.toMatchObject({
    code: 'validation_failed',
  });
  await sale.buyer(0).approve(1n);
  await sale.chain.owner.writeContract({
    ...{ address: sale.usdc, abi: token.abi, functionName: 'transfer', gas: 200_000n },
    args: [sale.fund, balance],
  });
  await requestRemit(sale.app.ctx, id);
  await settle();
  expect(await sale.statusOf(id)).toBe('remitted');
});

test('a refund is rejected unless the participation is completed', async () => {
  const { id } = await sale.participate(sale.buyer(4), 2n * UNIT);
  await expect(requestRemit(sale.app.ctx, id)).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(requestRemit(sale.app.ctx, 'nonsense')).rejects.toMatchObject({ code: 'not_found' });
  await saleWorker(sale).settle();
});

// A fund pays a refund out of everything that the user has committed, so the fund could pay a refund whose own commit
// was undone.
describe('a refund whose commit is undone by a reorganisation', () => {
  test.each([
    ['not sent', 1],
    ['already paid', 2],
  ] as const)('is not paid from another participation (%s)', async (state, depth) => {
    const other = await completeParticipation(sale.buyer(5), 40n * UNIT);
    const id = await completeParticipation(sale.buyer(5), 29n * UNIT);
    const before = await sale.totalsOf(sale.buyer(5).address);
    await (state === 'already paid' ? refund(id) : requestRemit(sale.app.ctx, id));
    await dropBlocks(depth);
    await sale.buyer(5).approve(0n);
    await settleOver(4);
    expect(await sale.statusOf(id)).toBe('failed');
    expect(await sale.reasonOf(id)).toMatch(/commit.?failed/i);
    expect(await sale.statusOf(other)).toBe('completed');
    expect((await sale.totalsOf(sale.buyer(5).address)).remitted).toBe(before.remitted);
    await expectDatabaseToMatchFund(sale);
  });

  test('is paid once if the commit is mined again', async () => {
    const id = await completeParticipation(sale.buyer(5), 6n * UNIT);
    await refund(id);
    await dropBlocks(2);
    await settleOver(4);
    expect((await sale.eventsOf(id)).slice(-4)).toEqual([
      'remit_submitted',
      'remitted',
      'remit_submitted',
      'remitted',
    ]);
    await expectDatabaseToMatchFund(sale);
  });

  test('fails the other refunds of its transaction, which are paid once when requested again', async () => {
    await completeParticipation(sale.buyer(0), 40n * UNIT);
    const ids = [
      (await sale.participate(sale.buyer(0), 3n * UNIT)).id,
      (await sale.participate(sale.buyer(1), 3n * UNIT)).id,
    ] as const;
    await saleWorker(sale).settle();
    await refund(...ids);
    await dropBlocks(2);
    await sale.buyer(0).approve(0n);
    await settleOver(4);
    expect(await sale.statusOf(ids[0])).toBe('failed');
    expect(await sale.statusOf(ids[1])).toBe('remit_failed');
    await requestRemit(sale.app.ctx, ids[1]);
    await settleOver(4);
    expect(await sale.statusOf(ids[1])).toBe('remit_submitted');
    // The refund waits until the cancellation of the first refund transaction is final. Until then, a reorganization
    // could undo the cancellation, and the first transaction could pay the refund, because the signed bytes of that
    // transaction are public.
    await sale.mine(64);
    await settleOver(1);
    expect(await sale.statusOf(ids[1])).toBe('remitted');
    await expectDatabaseToMatchFund(sale);
  });

  test('is not sent again while it is unknown whether the commit will be mined', async () => {
    const id = await completeParticipation(sale.buyer(5), 8n * UNIT);
    await refund(id);
    const before = await operatorNonce(sale);
    sale.pauseMining();
    await dropBlocks(2);
    const { settle } = saleWorker(sale, { timings: { resendSeconds: 0 } });
    await settle();
    await settle();
    await sale.mine(1);
    expect(await operatorNonce(sale)).toBe(before - 1);
    sale.resumeMining();
    await settleOver(4);
    expect(await sale.statusOf(id)).toBe('remitted');
    await expectDatabaseToMatchFund(sale);
  });

  test.each([
    ['the commit', 1],
    ['the commit and the refund', 2],
  ] as const)('fails if foreign transactions took the nonces of %s', async (_which, count) => {
    const id = await completeParticipation(sale.buyer(5), 12n * UNIT);
    await (count === 2 ? refund(id) : requestRemit(sale.app.ctx, id));
    await dropBlocks(count);
    for (let i = 0; i < count; i++) await sendForeignTransaction(sale);
    await settleOver(2);
    expect(await sale.statusOf(id)).toBe('remit_submitted');
    await sale.mine(64);
    await adoptNonce(sale.app.ctx, saleWorker(sale).worker.account);
    expect([await sale.statusOf(id), await sale.reasonOf(id)]).toEqual(['failed', 'commit_displaced']);
    await settleOver(1);
    await expectDatabaseToMatchFund(sale);
  });
});

test('a refund waits until its commit has the refund depth of the chain', async () => {
  const { settle } = saleWorker(sale, { refundDepth: 4 });
  const id = await completeParticipation(sale.buyer(3), 7n * UNIT);
  await requestRemit(sale.app.ctx, id);
  for (let depth = 1; depth < 4; depth++) {
    await settle();
    expect(await sale.statusOf(id)).toBe('remit_submitted');
    await sale.mine(1);
  }
  await settle();
  expect(await sale.statusOf(id)).toBe('remitted');
  await expectDatabaseToMatchFund(sale);
});

// Must be the last test, because it leaves behind a wrongly paid refund. The refund is paid because a node has kept the
// signed bytes, and because this chain does not delay refunds.
test('a refund paid from another participation is logged as an error', async () => {
  await completeParticipation(sale.buyer(5), 40n * UNIT);
  const id = await completeParticipation(sale.buyer(5), 9n * UNIT);
  await refund(id);
  const { rows } = await sql<{ raw: Buffer }>`
    select a.raw from operator_attempts a join participations p on a.transaction_id in (p.commit_id, p.remit_id)
    where p.id = ${id} order by a.inserted_at`.execute(sale.app.ctx.db);
  await dropBlocks(2);
  await sale.buyer(5).approve(0n);
  for (const { raw } of rows)
    await sale.chain.chain.request({ method: 'eth_sendRawTransaction', params: [toHex(raw)] });
  const logged = vi.spyOn(sale.app.ctx.log, 'error');
  await settleOver(3);
  expect(await sale.statusOf(id)).toBe('remitted');
  expect(logged).toHaveBeenCalledWith(
    { participation_ids: [id] },
    expect.stringContaining('other participations'),
  );
});
