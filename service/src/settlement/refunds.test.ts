import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { sql } from 'kysely';
import { toHex } from 'viem/utils';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type Buyer,
  expectBooksToAgree,
  type Sale,
  saleWorker,
  startSale,
  UNIT,
  useKeyElsewhere,
} from '../../test/support/sale.ts';
import { adoptNonce } from './adopt.ts';
import { requestRemit } from './refund.ts';

let sale: Sale;

beforeAll(async () => {
  sale = await startSale();
});
afterAll(() => sale.close());

const at = (i: number) => sale.buyer(i);

/** Until nothing waits for a block any more. */
async function settleOver(blocks: number): Promise<void> {
  const { settle } = saleWorker(sale, { pace: { resend: 0, suspect: 0 } });
  for (let block = 0; block < blocks; block++) {
    await settle();
    await sale.chain.chain.mine(1);
  }
  await settle();
}

async function completed(who: Buyer, amount: bigint): Promise<string> {
  const { id } = await sale.participate(who, amount);
  await saleWorker(sale).settle();
  expect(await sale.statusOf(id)).toBe('completed');
  return id;
}

async function remitted(...ids: string[]): Promise<void> {
  for (const id of ids) await requestRemit(sale.app.ctx, id);
  await saleWorker(sale).settle();
  for (const id of ids) expect(await sale.statusOf(id)).toBe('remitted');
}

const drop = (depth: number) => sale.chain.chain.reorg({ depth, transactions: 'drop' });

test('give back what was taken, once, however often they are asked for', async () => {
  const { settle } = saleWorker(sale);
  const { id } = await sale.participate(at(2), 13n * UNIT);
  await settle();
  const before = await sale.totalsOf(at(2).address);
  await Promise.all([requestRemit(sale.app.ctx, id), requestRemit(sale.app.ctx, id)]);
  await settle();
  await requestRemit(sale.app.ctx, id);
  await settle();
  expect(await sale.statusOf(id)).toBe('remitted');
  expect((await sale.eventsOf(id)).slice(-2)).toEqual(['remit_submitted', 'remitted']);
  expect((await sale.totalsOf(at(2).address)).remitted - before.remitted).toBe(13n * UNIT);
});

test('of several go together, and survive a reorganisation', async () => {
  const { settle } = saleWorker(sale, { pace: { resend: 0 } });
  const ids = [(await sale.participate(at(2), 2n * UNIT)).id, (await sale.participate(at(3), 2n * UNIT)).id];
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

test('fail when the fund cannot pay, and can be asked for again', async () => {
  const { settle } = saleWorker(sale);
  const { id } = await sale.participate(at(4), 17n * UNIT);
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
  await at(0).approve(1n);
  await sale.chain.owner.writeContract({
    ...{ address: sale.usdc, abi: token.abi, functionName: 'transfer', gas: 200_000n },
    args: [sale.fund, balance],
  });
  await requestRemit(sale.app.ctx, id);
  await settle();
  expect(await sale.statusOf(id)).toBe('remitted');
});

test('are refused for what was not completed', async () => {
  const { id } = await sale.participate(at(4), 2n * UNIT);
  await expect(requestRemit(sale.app.ctx, id)).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(requestRemit(sale.app.ctx, 'nonsense')).rejects.toMatchObject({ code: 'not_found' });
  await saleWorker(sale).settle();
});

// A fund pays out of anything that the user has committed.
describe('of a participation that a reorganisation undoes', () => {
  test.each([
    ['not sent yet', 1],
    ['paid already', 2],
  ] as const)('and that were %s are not paid out of another one', async (which, depth) => {
    const other = await completed(at(5), 40n * UNIT);
    const id = await completed(at(5), 29n * UNIT);
    const before = await sale.totalsOf(at(5).address);
    await (which === 'paid already' ? remitted(id) : requestRemit(sale.app.ctx, id));
    await drop(depth);
    await at(5).approve(0n);
    await settleOver(4);
    expect(await sale.statusOf(id)).toBe('failed');
    expect(await sale.reasonOf(id)).toMatch(/commit.?failed/i);
    expect(await sale.statusOf(other)).toBe('completed');
    expect((await sale.totalsOf(at(5).address)).remitted).toBe(before.remitted);
    await expectBooksToAgree(sale);
  });

  test('are paid once when it comes back', async () => {
    const id = await completed(at(5), 6n * UNIT);
    await remitted(id);
    await drop(2);
    await settleOver(4);
    expect((await sale.eventsOf(id)).slice(-4)).toEqual([
      'remit_submitted',
      'remitted',
      'remit_submitted',
      'remitted',
    ]);
    await expectBooksToAgree(sale);
  });

  test('take back those that went with them, which are paid once when they are asked for again', async () => {
    await completed(at(0), 40n * UNIT);
    const ids = [
      (await sale.participate(at(0), 3n * UNIT)).id,
      (await sale.participate(at(1), 3n * UNIT)).id,
    ] as const;
    await saleWorker(sale).settle();
    await remitted(...ids);
    await drop(2);
    await at(0).approve(0n);
    await settleOver(4);
    expect(await sale.statusOf(ids[0])).toBe('failed');
    expect(await sale.statusOf(ids[1])).toBe('remit_failed');
    await requestRemit(sale.app.ctx, ids[1]);
    await settleOver(4);
    expect(await sale.statusOf(ids[1])).toBe('remit_submitted');
    // The bytes that would pay it are known to the world until here.
    await sale.chain.chain.mine(64);
    await settleOver(1);
    expect(await sale.statusOf(ids[1])).toBe('remitted');
    await expectBooksToAgree(sale);
  });

  test('are not sent again while nobody knows whether it comes back', async () => {
    const id = await completed(at(5), 8n * UNIT);
    await remitted(id);
    const before = await sale.chain.direct.getTransactionCount({ address: roles.operator.address });
    sale.chain.chain.setBlockInterval(1e8);
    await drop(2);
    const { settle } = saleWorker(sale, { pace: { resend: 0 } });
    await settle();
    await settle();
    await sale.chain.chain.mine(1);
    expect(await sale.chain.direct.getTransactionCount({ address: roles.operator.address })).toBe(before - 1);
    sale.chain.chain.setBlockInterval(0);
    await settleOver(4);
    expect(await sale.statusOf(id)).toBe('remitted');
    await expectBooksToAgree(sale);
  });

  test.each([
    ['its commit', 1],
    ['its commit and their own', 2],
  ] as const)('fail when somebody else took the place of %s for good', async (_which, places) => {
    const id = await completed(at(5), 12n * UNIT);
    await (places === 2 ? remitted(id) : requestRemit(sale.app.ctx, id));
    await drop(places);
    for (let place = 0; place < places; place++) await useKeyElsewhere(sale);
    await settleOver(2);
    expect(await sale.statusOf(id)).toBe('remit_submitted');
    await sale.chain.chain.mine(64);
    await adoptNonce(sale.app.ctx, saleWorker(sale).worker.operator);
    expect([await sale.statusOf(id), await sale.reasonOf(id)]).toEqual(['failed', 'commit_displaced']);
    await settleOver(1);
    await expectBooksToAgree(sale);
  });
});

test('wait until their commit lies as deep as the chain asks', async () => {
  const { settle } = saleWorker(sale, { refundDepth: 4 });
  const id = await completed(at(3), 7n * UNIT);
  await requestRemit(sale.app.ctx, id);
  for (let depth = 1; depth < 4; depth++) {
    await settle();
    expect(await sale.statusOf(id)).toBe('remit_submitted');
    await sale.chain.chain.mine(1);
  }
  await settle();
  expect(await sale.statusOf(id)).toBe('remitted');
  await expectBooksToAgree(sale);
});

// The last one: a node has kept the bytes, on a chain where refunds do not wait, and nothing can call them back.
test('that were paid out of another participation are reported to the operator', async () => {
  await completed(at(5), 40n * UNIT);
  const id = await completed(at(5), 9n * UNIT);
  await remitted(id);
  const { rows } = await sql<{ raw: Buffer }>`
    select a.raw from operator_attempts a join participations p on a.transaction_id in (p.commit_id, p.remit_id)
    where p.id = ${id} order by a.inserted_at`.execute(sale.app.ctx.db);
  await drop(2);
  await at(5).approve(0n);
  for (const { raw } of rows)
    await sale.chain.chain.request({ method: 'eth_sendRawTransaction', params: [toHex(raw)] });
  const told = vi.spyOn(sale.app.ctx.log, 'error');
  await settleOver(3);
  expect(await sale.statusOf(id)).toBe('remitted');
  expect(told).toHaveBeenCalledWith(
    { participation_ids: [id] },
    expect.stringContaining('other participations'),
  );
});
