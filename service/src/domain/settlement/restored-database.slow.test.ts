import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type LyingNode, startLyingNode } from '../../../test/support/lying-node.ts';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import {
  blockedCount,
  forgetTransaction,
  operatorNonce,
  submitCommit,
  useSale,
} from '../../../test/support/settlement.ts';

let second: LyingNode;
const sale = useSale({
  moreUrls: async (chain) => {
    second = await startLyingNode((await chain.addNode()).url);
    return [`${second.url}#provider=second`];
  },
});
afterEach(() => {
  second.lie(null);
  sale.resumeMining();
});
afterAll(() => second.close());

test('a row does not fail if the database has lost the very first commit of the key', async () => {
  const { db } = sale.app.ctx;
  await saleWorker(sale).round();
  const before = await db.selectFrom('operator_keys').select('next_nonce').executeTakeFirstOrThrow();
  const { id } = await sale.participate(sale.buyer(3), 7n * UNIT);
  await saleWorker(sale).settle();
  expect(await sale.statusOf(id)).toBe('completed');
  await forgetTransaction(sale, id, 'commit');
  await db.updateTable('operator_keys').set(before).execute();
  const { settle } = saleWorker(sale);
  await settle();
  expect(await sale.statusOf(id)).toBe('pending');
  expect(await blockedCount(sale, 'foreign_nonce')).toBeGreaterThan(0);
  // For the next test, restores the state in which the database knows all transactions.
  await sql`update participations set status = 'failed' where id = ${id}`.execute(db);
  const nonce = await operatorNonce(sale);
  await sql`update operator_keys set next_nonce = ${nonce}, epoch = epoch + 1, seen_nonce = null`.execute(db);
});

test('a prepared row whose commit the database has lost does not fail for want of an allowance', async () => {
  const { id } = await sale.participate(sale.buyer(2), 7n * UNIT);
  await saleWorker(sale).settle();
  expect(await sale.statusOf(id)).toBe('completed');
  await forgetTransaction(sale, id, 'commit');
  const { db } = sale.app.ctx;
  const setStatus = (status: 'prepared' | 'failed') =>
    db.updateTable('participations').set({ status }).where('id', '=', id).execute();
  await setStatus('prepared');
  const { round } = saleWorker(sale);
  for (let i = 0; i < 3; i++) await round();
  expect(await sale.statusOf(id)).toBe('prepared');
  expect(await blockedCount(sale, 'foreign_nonce')).toBeGreaterThan(0);
  // For the next test, restores the state in which the database knows all transactions.
  await setStatus('failed');
  await sql`update operator_keys set next_nonce = next_nonce + 1, epoch = epoch + 1, seen_nonce = null`.execute(
    db,
  );
});

async function sendAndForget(): Promise<string> {
  await sale.participate(sale.buyer(0), UNIT);
  const id = await submitCommit(sale, 1, 9n * UNIT);
  await forgetTransaction(sale, id, 'commit');
  return id;
}

describe('after the database has lost a transaction that is in the mempool', () => {
  test('nothing is signed, even if another node shows no mempool later', async () => {
    const id = await sendAndForget();
    const { round } = saleWorker(sale);
    await round();
    expect(await sale.statusOf(id)).toBe('pending');
    expect(await blockedCount(sale, 'foreign_nonce')).toBeGreaterThan(0);
    const hideMempool = saleWorker(sale);
    const { chain } = hideMempool.worker.account;
    const latestOnly: typeof chain.rpc.request = (call) =>
      chain.rpc.request({
        ...call,
        params: JSON.parse(JSON.stringify(call.params).replace('pending', 'latest')),
      });
    const providers = () => chain.rpc.providers().map((rpc) => ({ ...rpc, request: latestOnly }));
    hideMempool.worker.account.chain = { ...chain, rpc: { ...chain.rpc, request: latestOnly, providers } };
    await hideMempool.round();
    expect(await sale.statusOf(id)).toBe('pending');
    expect(await blockedCount(sale, 'foreign_nonce')).toBeGreaterThan(0);
    await sale.mine(1);
    await round();
    expect(await sale.statusOf(id)).toBe('pending');
    expect((await sale.totalsOf(sale.buyer(1).address)).count).toBe(1n);
  });
});
