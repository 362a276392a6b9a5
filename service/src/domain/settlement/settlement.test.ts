import type { Hex } from 'viem';
import { keccak256, toHex } from 'viem/utils';
import { describe, expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { expectDatabaseToMatchFund, useSale } from '../../../test/support/settlement.ts';
import { followTransactions } from '../../platform/operator/follow.ts';
import { requestRemit } from '../participations/refunds.ts';

const sale = useSale();

describe('commits', () => {
  test('a participation with a valid approval is committed exactly once and completed', async () => {
    const { settle } = saleWorker(sale);
    const { id, status } = await sale.participate(sale.buyer(0), 25n * UNIT);
    expect(status).toBe('pending');
    expect(await settle()).toBe('idle');
    expect(await sale.statusOf(id)).toBe('completed');
    expect(await sale.eventsOf(id)).toEqual(['pending', 'submitted', 'completed']);
    const totals = await sale.totalsOf(sale.buyer(0).address);
    expect(totals).toEqual({ count: 1n, sum: 25n * UNIT, remitted: 0n });
  });

  test('a row waits while a commit in progress reserves the allowance that it needs', async () => {
    const { round, settle } = saleWorker(sale);
    const buyer = sale.buyer(5);
    const ids: string[] = [];
    for (const approved of [6n, 12n])
      ids.push((await sale.participate(buyer, 6n * UNIT, approved * UNIT)).id);
    await buyer.approve(10n * UNIT);
    sale.pauseMining();
    await round();
    const statuses = () => Promise.all(ids.map((id) => sale.statusOf(id)));
    expect(await statuses()).toEqual(['submitted', 'pending']);
    sale.resumeMining();
    await sale.mine(1);
    await settle();
    await settle();
    expect(await statuses()).toEqual(['completed', 'failed']);
  });

  test('rows of one fund share a transaction, and a row that cannot be committed fails alone', async () => {
    const { settle } = saleWorker(sale);
    const created = [];
    for (const i of [0, 1, 2, 3]) created.push(await sale.participate(sale.buyer(i), 10n * UNIT));
    await sale.buyer(2).approve(0n);
    await settle();
    const rows = await sale.app.ctx.db
      .selectFrom('participations')
      .select(['id', 'status', 'reason', 'commit_id'])
      .where(
        'id',
        'in',
        created.map(({ id }) => id),
      )
      .orderBy('inserted_at')
      .execute();
    expect(rows.map(({ status }) => status)).toEqual(['completed', 'completed', 'failed', 'completed']);
    expect(rows[2]?.reason).toBe('insufficient_allowance');
    expect(rows[2]?.commit_id).toBe(null);
    expect(new Set(rows.filter((_, i) => i !== 2).map(({ commit_id }) => commit_id)).size).toBe(1);
    await expectDatabaseToMatchFund(sale);
  });

  test('of two equal participations of one user, one fails if the allowance then covers only one', async () => {
    const { settle } = saleWorker(sale);
    const first = await sale.participate(sale.buyer(1), 7n * UNIT);
    const second = await sale.participate(sale.buyer(1), 7n * UNIT, 14n * UNIT);
    await sale.buyer(1).approve(7n * UNIT);
    await settle();
    expect([await sale.statusOf(first.id), await sale.statusOf(second.id)]).toEqual(['completed', 'failed']);
    await expectDatabaseToMatchFund(sale);
  });
});

test('a round opens no more transactions than nodes keep, and commits do not starve refunds', async () => {
  const { settle, round, worker } = saleWorker(sale);
  const { id: refunded } = await sale.participate(sale.buyer(0), 5n * UNIT);
  await settle();
  await requestRemit(sale.app.ctx, refunded);
  const { id: pending } = await sale.participate(sale.buyer(1), 6n * UNIT);
  sale.pauseMining();
  worker.driver.maxUnmined = 1;
  const listUnmined = () =>
    sale.app.ctx.db.selectFrom('operator_transactions').select('kind').where('state', '=', 'open').execute();
  for (let i = 0; i < 2; i++) {
    await round();
    expect(await listUnmined()).toEqual([{ kind: 'commit' }]);
  }
  sale.resumeMining();
  await sale.mine(1);
  await settle();
  expect([await sale.statusOf(pending), await sale.statusOf(refunded)]).toEqual(['completed', 'remitted']);
});

describe('late approvals', () => {
  test('keep a participation prepared until they are mined', async () => {
    const { settle } = saleWorker(sale);
    sale.pauseMining();
    const { id, status } = await sale.participate(sale.buyer(0), 5n * UNIT);
    expect(status).toBe('prepared');
    await settle();
    expect(await sale.statusOf(id)).toBe('prepared');
    sale.resumeMining();
    await sale.mine(1);
    await settle();
    expect(await sale.eventsOf(id)).toEqual(['prepared', 'pending', 'submitted', 'completed']);
  });

  test('fail a participation after 30 minutes without being mined, and not earlier', async () => {
    const { settle } = saleWorker(sale);
    const unknown: Hex = `0x${'ab'.repeat(32)}`;
    const request = sale.request(sale.buyer(0), 5n * UNIT, unknown);
    const { body } = await sale.person.call('POST', '/v1/participations', request);
    sale.app.clock.advance(30 * 60 - 1);
    await sale.mine(1);
    await settle();
    expect(await sale.statusOf(String(body.id))).toBe('prepared');
    sale.app.clock.advance(2);
    await settle();
    expect(await sale.statusOf(String(body.id))).toBe('prepared');
    await sale.mine(1);
    await settle();
    expect(await sale.statusOf(String(body.id))).toBe('failed');
    expect(await sale.reasonOf(String(body.id))).toBe('approval_not_mined');
    const repeated = await sale.person.call('POST', '/v1/participations', request);
    expect(repeated.body).toMatchObject({ id: body.id, status: 'failed' });
    const otherWallet = { ...request, wallet_address: sale.buyer(1).address };
    expect((await sale.person.call('POST', '/v1/participations', otherWallet)).status).toBe(200);
  });

  test('fail a participation if they approve too little', async () => {
    const { settle } = saleWorker(sale);
    sale.pauseMining();
    const hash = await sale.buyer(0).approve(4n * UNIT);
    const request = sale.request(sale.buyer(0), 5n * UNIT, hash);
    const { body } = await sale.person.call('POST', '/v1/participations', request);
    sale.resumeMining();
    await sale.mine(1);
    await settle();
    expect(await sale.reasonOf(String(body.id))).toBe('approval_invalid: amount');
  });
});

describe('reorganisations', () => {
  test.each(['return', 'drop'] as const)(
    'reopen a completed row and settle it again (transactions %s)',
    async (transactions) => {
      const { settle } = saleWorker(sale, { timings: { resendSeconds: 0 } });
      const { id } = await sale.participate(sale.buyer(3), 11n * UNIT);
      await settle();
      expect(await sale.statusOf(id)).toBe('completed');
      await sale.chain.chain.reorg({ depth: 1, transactions });
      expect((await sale.totalsOf(sale.buyer(3).address)).sum).not.toBe(11n * UNIT);
      await settle();
      await sale.mine(1);
      await settle();
      expect(await sale.statusOf(id)).toBe('completed');
      expect(await sale.eventsOf(id)).toEqual([
        'pending',
        'submitted',
        'completed',
        'submitted',
        'completed',
      ]);
      await expectDatabaseToMatchFund(sale);
    },
  );

  // If a reorganization during a round were not noticed, the worker could treat blocks of the old branch as
  // confirmed, because a block of the new branch is above them.
  test('during a round are noticed before the round records an outcome', async () => {
    const { worker, round } = saleWorker(sale);
    const { id } = await sale.participate(sale.buyer(3), 12n * UNIT);
    sale.pauseMining();
    await round();
    await sale.mine(1);
    sale.resumeMining();
    const { chain } = worker.account;
    const number = toHex(await sale.chain.direct.getBlockNumber());
    const staleHead = { number, hash: keccak256('0x') };
    const batch: typeof chain.rpc.batch = async (calls, accept) => {
      const [call] = calls;
      const isHead = call?.method === 'eth_getBlockByNumber' && (call.params as unknown[])[0] === 'latest';
      if (!isHead) return chain.rpc.batch(calls, accept);
      return [{ result: staleHead }];
    };
    const onStaleHead = { ...worker.account, chain: { ...chain, rpc: { ...chain.rpc, batch } } };
    const state = {
      head: null,
      confirming: new Map(),
      nonces: { since: null },
      unmined: null,
      checkedEpoch: null,
    };
    const follow = (account: typeof onStaleHead) =>
      followTransactions(account, worker.lease(), state, worker.timings, worker.handlers);
    await follow(onStaleHead);
    expect(await sale.statusOf(id)).toBe('submitted');
    await follow(worker.account);
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('of an approval return its row to prepared before anything is sent', async () => {
    const { settle } = saleWorker(sale);
    const { id } = await sale.participate(sale.buyer(4), 3n * UNIT);
    await sale.chain.chain.reorg({ depth: 1, transactions: 'return' });
    await settle();
    expect(await sale.statusOf(id)).toBe('prepared');
    await sale.mine(1);
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    await expectDatabaseToMatchFund(sale);
  });
});
