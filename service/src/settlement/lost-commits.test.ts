import { toHex } from 'viem/utils';
import { afterEach, describe, expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../test/support/sale.ts';
import {
  dropFromPool,
  expectDatabaseToMatchFund,
  firstAttempt,
  forgetTransaction,
  operatorNonce,
  stopFund,
  submitCommit,
  useSale,
} from '../../test/support/settlement.ts';
import { feeLimits } from '../operator/account.ts';
import { NotDeepEnough } from '../operator/adopt.ts';
import { adoptNonce, NotReconciled } from './adopt.ts';
import { applyReconcile } from './reconcile.ts';
import { planReconcile } from './reconcile-plan.ts';

const sale = useSale();
afterEach(() => sale.resumeMining());

/** The bit of the fund's stop mask that rejects commits. */
const COMMITS = 2n;

function operatorAccount() {
  const { ctx } = sale.app;
  const chain = ctx.chains.evm('ethereum_sepolia');
  const signer = ctx.signerOf('commit', 'ethereum_sepolia');
  if (signer === null) throw new Error('the service has no operator key');
  return { ...ctx, ...feeLimits(ctx.config, chain.name), chain, signer };
}

const knownNonces = async () =>
  (await sale.app.ctx.db.selectFrom('operator_transactions').select('nonce').orderBy('nonce').execute()).map(
    ({ nonce }) => Number(nonce),
  );

describe('after a failover has lost a commit', () => {
  test('one that committed nothing leaves a nonce gap that stops no later transaction, and its row is committed once', async () => {
    const id = await submitCommit(sale, 0, 3n * UNIT);
    const { hash, raw } = await firstAttempt(sale, id);
    await dropFromPool(sale, hash);
    await stopFund(sale, COMMITS);
    await sale.chain.chain.request({ method: 'eth_sendRawTransaction', params: [raw] });
    await forgetTransaction(sale, id, 'commit');
    await sale.mine(1);
    sale.resumeMining();
    await stopFund(sale, 0n);
    const gap = (await operatorNonce(sale)) - 1;
    await adoptNonce(sale.app.ctx, operatorAccount());
    const later = await sale.participate(sale.buyer(1), 4n * UNIT);
    await saleWorker(sale).settle();
    expect([await sale.statusOf(id), await sale.statusOf(later.id)]).toEqual(['completed', 'completed']);
    const known = await knownNonces();
    expect(known).not.toContain(gap);
    expect(Math.max(...known)).toBe((await operatorNonce(sale)) - 1);
    await expectDatabaseToMatchFund(sale);
  });

  test('adopting the nonce waits until the commit is final, because nothing has compared its block', async () => {
    const id = await submitCommit(sale, 2, 5n * UNIT);
    await forgetTransaction(sale, id, 'commit');
    let finalized = await sale.chain.direct.getBlockNumber();
    sale.resumeMining();
    await sale.mine(3);
    const account = operatorAccount();
    const { rpc, facts } = account.chain;
    const batch: typeof rpc.batch = async (calls, accept) => {
      const tags = calls.map(({ params }) => (params as unknown[])[0]);
      if (!tags.includes('finalized')) return rpc.batch(calls, accept);
      return tags.map(() => ({ result: { number: toHex(finalized) } }));
    };
    account.chain = { ...account.chain, facts: { ...facts, finalityTags: true }, rpc: { ...rpc, batch } };
    await expect(adoptNonce(sale.app.ctx, account)).rejects.toThrow(NotDeepEnough);
    await saleWorker(sale).round();
    expect(await sale.statusOf(id)).toBe('pending');
    finalized = await sale.chain.direct.getBlockNumber();
    await expect(adoptNonce(sale.app.ctx, account)).rejects.toThrow(NotReconciled);
    await applyReconcile(sale.app.ctx, await planReconcile(sale.app.ctx.db, account.chain));
    await adoptNonce(sale.app.ctx, account);
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect((await sale.totalsOf(sale.buyer(2).address)).count).toBe(1n);
    expect(await operatorNonce(sale)).toBe(Math.max(...(await knownNonces())) + 1);
    await expectDatabaseToMatchFund(sale);
  });
});
