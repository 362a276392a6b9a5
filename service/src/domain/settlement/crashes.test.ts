import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { expectDatabaseToMatchFund, useSale } from '../../../test/support/settlement.ts';
import type { Signer } from '../../platform/operator/signer.ts';

const sale = useSale();

/** The number of the next simulated node. No process holds its advisory lock, as if the node's process had died. */
let deadNode = 1_000;

/** Creates a worker on a node whose process will die. The worker takes over the lease immediately. */
async function dyingWorker(signer?: Signer) {
  await sale.app.ctx.db.updateTable('operator_keys').set({ lease_until: '2000-01-01T00:00:00Z' }).execute();
  return saleWorker(sale, { node: deadNode++, ...(signer && { signer }) });
}

/** Returns the operator's signer with a hook that runs after each signature. */
function hookedSigner(afterSigning: (raw: Hex) => Promise<void> | void): Signer {
  const operator = sale.app.ctx.signerOf('commit', 'ethereum_sepolia');
  if (operator === null) throw new Error('the app has no operator key');
  return {
    ...operator,
    signTransaction: async (transaction) => {
      const raw = await operator.signTransaction(transaction);
      await afterSigning(raw);
      return raw;
    },
  };
}

/** Runs rounds until the row is completed. Rounds fail until the RPC node's circuit breaker closes again. */
async function settleAfterOutage(id: string): Promise<void> {
  const { settle } = saleWorker(sale);
  const status = async () => {
    await settle().catch(() => undefined);
    return sale.statusOf(id);
  };
  await expect.poll(status, { timeout: 10_000 }).toBe('completed');
}

test('a crash before the signed transaction is stored sends nothing, and the next node settles the row', async () => {
  const { id } = await sale.participate(sale.buyer(5), 2n * UNIT);
  const signer = hookedSigner(() => {
    throw new Error('the process died');
  });
  await expect((await dyingWorker(signer)).round()).rejects.toThrow('died');
  expect(await sale.statusOf(id)).toBe('pending');
  await saleWorker(sale).settle();
  expect(await sale.statusOf(id)).toBe('completed');
  await expectDatabaseToMatchFund(sale);
});

test('after a crash between storing and sending, the next node sends the same bytes', async () => {
  const { id } = await sale.participate(sale.buyer(5), 2n * UNIT);
  const signer = hookedSigner(() => sale.node.fault.set('down'));
  await (await dyingWorker(signer)).round().catch(() => undefined);
  sale.node.fault.set('none');
  expect(await sale.statusOf(id)).toBe('submitted');
  await settleAfterOutage(id);
  await expectDatabaseToMatchFund(sale);
});

test('after a crash between mining and recording, the next node reads the receipt', async () => {
  const { id } = await sale.participate(sale.buyer(5), 2n * UNIT);
  await (await dyingWorker()).round();
  expect(await sale.statusOf(id)).toBe('submitted');
  await saleWorker(sale).settle();
  expect(await sale.statusOf(id)).toBe('completed');
  await expectDatabaseToMatchFund(sale);
});

test('a node that hangs while signing cannot store after another node has taken over', async () => {
  const { id } = await sale.participate(sale.buyer(5), 2n * UNIT);
  const signer = hookedSigner(async () => void (await saleWorker(sale).settle()));
  expect(await (await dyingWorker(signer)).round()).toBe('away');
  expect(await sale.eventsOf(id)).toEqual(['pending', 'submitted', 'completed']);
  await expectDatabaseToMatchFund(sale);
});

test('two nodes that run at once settle every row once', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) ids.push((await sale.participate(sale.buyer(i % 6), UNIT, 2n * UNIT)).id);
  await sale.buyer(0).approve(UNIT);
  const nodes = [await dyingWorker(), await dyingWorker()];
  for (let i = 0; i < 6; i++) await Promise.all(nodes.map(({ round }) => round().catch(() => undefined)));
  await saleWorker(sale).settle();
  const statuses = new Set(await Promise.all(ids.map((id) => sale.statusOf(id))));
  expect([...statuses].toSorted()).toEqual(['completed', 'failed']);
  await expectDatabaseToMatchFund(sale);
});
