import { toHex } from 'viem/utils';
import { afterEach, describe, expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { expectDatabaseToMatchFund, useSale } from '../../../test/support/settlement.ts';
import { readBlocks, readFinality } from '../../platform/chain/evm/node-reads.ts';
import { requestRemit } from '../participations/refunds.ts';

const sale = useSale();
afterEach(() => sale.resumeMining());

/**
 * Creates a worker on a chain whose nodes support the block tags `safe` and `finalized`. The node returns the blocks in
 * `tags`, and null for a missing tag.
 */
function workerWithTags(tags: { safe?: bigint; finalized?: bigint }) {
  const created = saleWorker(sale);
  const { chain } = created.worker.account;
  const batch: typeof chain.rpc.batch = async (calls, accept) => {
    const names = calls.map(({ params }) => (params as unknown[])[0] as 'safe' | 'finalized');
    if (!names.includes('safe') && !names.includes('finalized')) return chain.rpc.batch(calls, accept);
    return names.map((name) => {
      const number = tags[name];
      return { result: number === undefined ? null : { number: toHex(number) } };
    });
  };
  const facts = { ...chain.facts, finalityTags: true, confirmations: 3, refundDepth: 5 };
  created.worker.account.chain = { ...chain, facts, rpc: { ...chain.rpc, batch } };
  return created;
}

const headNumber = () => sale.chain.direct.getBlockNumber();

describe('on a chain with tags', () => {
  test('a commit completes when its block is safe, and is refunded when it is final', async () => {
    const tags = { safe: await headNumber(), finalized: 0n };
    const { settle } = workerWithTags(tags);
    const { id } = await sale.participate(sale.buyer(0), 5n * UNIT);
    await settle();
    await sale.mine(20);
    await settle();
    expect(await sale.statusOf(id)).toBe('submitted');
    tags.safe = await headNumber();
    await sale.mine(1);
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    await requestRemit(sale.app.ctx, id);
    await sale.mine(20);
    await settle();
    expect(await sale.statusOf(id)).toBe('remit_submitted');
    const unsent = await sale.app.ctx.db
      .selectFrom('participations')
      .select('remit_id')
      .where('id', '=', id)
      .executeTakeFirst();
    expect(unsent?.remit_id).toBeNull();
    tags.finalized = tags.safe;
    await sale.mine(1);
    await settle();
    tags.safe = await headNumber();
    await sale.mine(1);
    await settle();
    expect(await sale.statusOf(id)).toBe('remitted');
    await expectDatabaseToMatchFund(sale);
  });

  test('a node without the tags gets the depths of the chain', async () => {
    const { worker } = workerWithTags({});
    const { chain } = worker.account;
    const [head] = await readBlocks(chain, ['latest']);
    const { number } = head;
    expect(await readFinality(chain, head)).toEqual({
      confirmed: number - 2n,
      final: number - 4n,
      released: number - 63n,
    });
  });
});
