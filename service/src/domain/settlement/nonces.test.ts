import { beforeAll, describe, expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import {
  blockedCount,
  commitAttempts,
  dropFromPool,
  firstAttempt,
  operatorNonce,
  sendForeignTransaction,
  useComparedSale,
} from '../../../test/support/settlement.ts';
import { keyId } from '../../platform/operator/account.ts';
import type { FollowTimings } from '../../platform/operator/follow.ts';
import { findRequest, insertRequest } from '../../platform/operator/replacement-store.ts';
import { listOpen } from '../../platform/operator/store.ts';
import { adoptNonce } from './adopt.ts';

const NEVER = 1e9;
const sale = useComparedSale();
beforeAll(async () => {
  // Uses the key once, because only a used key has a stored next nonce.
  await sale.participate(sale.buyer(0), UNIT);
  await saleWorker(sale).settle();
});

const undoBlock = (transactions: 'return' | 'drop') => sale.chain.chain.reorg({ depth: 1, transactions });

describe('a nonce gap left by a reorganised foreign transaction', () => {
  const listFills = () =>
    sale.app.ctx.db
      .selectFrom('operator_transactions')
      .select(['state', 'nonce'])
      .where('kind', '=', 'fill')
      .orderBy('nonce')
      .execute();

  /** Creates a pending row and a nonce gap: no mined transaction has the nonce just below the stored next nonce. */
  async function makeGap(transactions: 'return' | 'drop'): Promise<string> {
    const { id } = await sale.participate(sale.buyer(4), 4n * UNIT);
    await sendForeignTransaction(sale);
    await adoptNonce(sale.app.ctx, saleWorker(sale).worker.account);
    sale.pauseMining();
    await undoBlock(transactions);
    return id;
  }

  test('is filled, so that later transactions can be mined', async () => {
    const id = await makeGap('drop');
    const { round, settle } = saleWorker(sale, { timings: { nonceGraceMs: 0 } });
    await round();
    expect((await listFills()).map(({ state }) => state)).toEqual(['open']);
    expect(await sale.statusOf(id)).toBe('submitted');
    sale.resumeMining();
    await sale.mine(1);
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect((await listFills()).map(({ state }) => state)).toEqual(['settled']);
    expect(await blockedCount(sale, 'foreign_nonce')).toBe(0);
  });

  test('may be closed by the foreign transaction, and is filled if that is undone again', async () => {
    const id = await makeGap('return');
    const { round, settle } = saleWorker(sale, { timings: { nonceGraceMs: 0, resendSeconds: -1 } });
    await round();
    await sale.mine(1);
    await settle();
    await settle();
    expect(await blockedCount(sale, 'foreign_nonce')).toBe(0);
    expect((await listFills()).at(-1)?.state).toBe('displaced');
    expect((await listFills()).at(-1)?.nonce).toBeLessThan(BigInt(await operatorNonce(sale)));
    await undoBlock('drop');
    await settle();
    await settle();
    expect((await listFills()).at(-1)?.state).toBe('open');
    sale.resumeMining();
    await sale.mine(1);
    await settle();
    expect((await listFills()).at(-1)?.state).toBe('settled');
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('may be closed by the foreign transaction while the transaction after it is unmined', async () => {
    const id = await makeGap('return');
    const { round } = saleWorker(sale, { timings: { nonceGraceMs: 0 } });
    await round();
    expect(await sale.statusOf(id)).toBe('submitted');
    // The node drops the commit, so that only the foreign transaction is mined.
    await dropFromPool(sale, (await firstAttempt(sale, id)).hash);
    await sale.mine(1);
    await round();
    await round();
    expect(await blockedCount(sale, 'foreign_nonce')).toBe(0);
    expect((await listFills()).at(-1)?.state).toBe('displaced');
    sale.resumeMining();
    await saleWorker(sale, { timings: { resendSeconds: -1 } }).settle();
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });
});

describe('a transaction whose nonce was used elsewhere', () => {
  async function displaceCommit(timings: Partial<FollowTimings> = {}): Promise<string> {
    const { round } = saleWorker(sale, { timings: { nonceGraceMs: 0, ...timings } });
    const { id } = await sale.participate(sale.buyer(5), 5n * UNIT);
    const nonce = await operatorNonce(sale);
    sale.pauseMining();
    await round();
    await sendForeignTransaction(sale, nonce);
    await sale.mine(1);
    sale.resumeMining();
    await round();
    expect(await sale.statusOf(id)).toBe('submitted');
    expect(await blockedCount(sale, 'foreign_nonce')).toBeGreaterThan(0);
    return id;
  }

  test('is mined without intervention if the foreign transaction is undone', async () => {
    const id = await displaceCommit();
    const attempts = await commitAttempts(sale, id);
    // If an operator requests a cancellation now, the request is refused after the grace period. Otherwise, the
    // cancellation could be carried out much later, when a reorganization undoes the foreign transaction.
    const { db } = sale.app.ctx;
    const [commit] = await listOpen(db, keyId(saleWorker(sale).worker.account));
    if (commit === undefined) throw new Error('the commit is not open');
    await insertRequest(db, commit.id, 'cancel');
    await saleWorker(sale, { timings: { nonceGraceMs: NEVER } }).round();
    expect(await findRequest(db, commit.id)).toMatchObject({ requested: 'cancel' });
    await saleWorker(sale, { timings: { nonceGraceMs: 0 } }).round();
    expect(await findRequest(db, commit.id)).toMatchObject({
      requested: null,
      refusal: `the nonce ${commit.nonce} is already used`,
    });
    await undoBlock('drop');
    await saleWorker(sale, { timings: { resendSeconds: -1 } }).settle();
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(attempts.length).toBe(1);
    expect(await commitAttempts(sale, id)).toEqual(attempts);
    expect(await blockedCount(sale, 'foreign_nonce')).toBe(0);
  });

  test('is reported as foreign even if it is due to be sent again, which the node would refuse', async () => {
    await displaceCommit({ resendSeconds: -1, bumpSeconds: -1 });
    expect(await blockedCount(sale, 'refused')).toBe(0);
    await undoBlock('drop');
    await saleWorker(sale, { timings: { resendSeconds: -1 } }).settle();
    await saleWorker(sale).settle();
  });

  test('releases its rows when an operator adopts the nonce, at a depth of 64 blocks and not earlier', async () => {
    const id = await displaceCommit();
    const { worker, settle } = saleWorker(sale);
    await expect(adoptNonce(sale.app.ctx, worker.account)).rejects.toThrow('64 blocks');
    await sale.mine(62);
    await expect(adoptNonce(sale.app.ctx, worker.account)).rejects.toThrow('64 blocks');
    expect(await sale.statusOf(id)).toBe('submitted');
    await sale.mine(1);
    await adoptNonce(sale.app.ctx, worker.account);
    expect(await sale.statusOf(id)).toBe('pending');
    await settle();
    expect(await sale.statusOf(id)).toBe('completed');
  });
});
