import { expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { firstAttempt, isKnownToNode, useComparedSale } from '../../../test/support/settlement.ts';

// Some chains confirm a block long after it was mined, so hundreds of mined transactions can await confirmation. The
// worker must not read the receipts of all of them in every round.
const sale = useComparedSale();

const CONFIRMATIONS = 4;

/** Creates a worker that records the hashes whose receipts it reads. */
function recordingWorker() {
  const created = saleWorker(sale, { timings: { resendSeconds: -1 } });
  const { chain } = created.worker.account;
  const read: string[] = [];
  const batch: typeof chain.rpc.batch = (calls, accept) => {
    for (const { method, params } of calls)
      if (method === 'eth_getTransactionReceipt') read.push(String((params as unknown[])[0]));
    return chain.rpc.batch(calls, accept);
  };
  const facts = { ...chain.facts, confirmations: CONFIRMATIONS };
  created.worker.account.chain = { ...chain, facts, rpc: { ...chain.rpc, batch } };
  return { ...created, timesRead: (hash: string) => read.filter((each) => each === hash).length };
}

/** Creates a row whose commit is mined but not confirmed yet. */
async function mineCommit({ round }: ReturnType<typeof recordingWorker>) {
  const { id } = await sale.participate(sale.buyer(0), 2n * UNIT);
  await sale.mine(CONFIRMATIONS);
  sale.pauseMining();
  await round();
  await round();
  const { hash } = await firstAttempt(sale, id);
  await sale.mine(1);
  await round();
  expect(await sale.statusOf(id)).toBe('submitted');
  return { id, hash };
}

test('a mined transaction is read again only once it is confirmed', async () => {
  const worker = recordingWorker();
  const { id, hash } = await mineCommit(worker);
  const before = worker.timesRead(hash);
  for (let block = 1; block < CONFIRMATIONS; block++) {
    expect(worker.timesRead(hash)).toBe(before);
    expect(await sale.statusOf(id)).toBe('submitted');
    expect(await worker.round()).toBe('watching');
    await sale.mine(1);
    await worker.round();
  }
  expect(worker.timesRead(hash)).toBe(before + 1);
  expect(await sale.statusOf(id)).toBe('completed');
});

test('a transaction that a reorganisation drops while it is confirming is sent again', async () => {
  const worker = recordingWorker();
  const { id, hash } = await mineCommit(worker);
  await sale.mine(1);
  await worker.round();
  await sale.chain.chain.reorg({ depth: 2, transactions: 'drop' });
  expect(await isKnownToNode(sale, hash)).toBe(false);
  await worker.round();
  expect(await isKnownToNode(sale, hash)).toBe(true);
  expect(await sale.statusOf(id)).toBe('submitted');
  await sale.mine(CONFIRMATIONS);
  await worker.round();
  expect(await sale.eventsOf(id)).toEqual(['pending', 'submitted', 'completed']);
});

test('a node that takes the lease again reads every open transaction again', async () => {
  const worker = recordingWorker();
  const { id, hash } = await mineCommit(worker);
  const before = worker.timesRead(hash);
  worker.worker.driver.reset();
  await worker.round();
  expect(worker.timesRead(hash)).toBe(before + 1);
  await sale.mine(CONFIRMATIONS);
  await worker.round();
  expect(await sale.statusOf(id)).toBe('completed');
});

test('confirming transactions do not use up the number of unmined ones', async () => {
  const worker = recordingWorker();
  worker.worker.driver.maxUnmined = 1;
  const { id: later } = await sale.participate(sale.buyer(1), 2n * UNIT);
  const due = (at: string) =>
    sale.app.ctx.db.updateTable('participations').set({ check_at: at }).where('id', '=', later).execute();
  await due('2100-01-01T00:00:00Z');
  const { id } = await mineCommit(worker);
  await due('2000-01-01T00:00:00Z');
  await worker.round();
  expect([await sale.statusOf(id), await sale.statusOf(later)]).toEqual(['submitted', 'submitted']);
  await sale.mine(2 * CONFIRMATIONS);
  await worker.settle();
  expect(await sale.statusOf(later)).toBe('completed');
});
