import { toHex } from 'viem/utils';
import { afterEach, describe, expect, test } from 'vitest';
import { gaugesOf, saleWorker, UNIT } from '../../../test/support/sale.ts';
import {
  blockedCount,
  dropFromPool,
  expectDatabaseToMatchFund,
  firstAttempt,
  forgetTransaction,
  operatorNonce,
  stopFund,
  submitCommit,
  useSale,
} from '../../../test/support/settlement.ts';
import { feeLimits } from '../../platform/operator/account.ts';
import { NotDeepEnough } from '../../platform/operator/adopt.ts';
import { cancelParticipation } from '../participations/cancel.ts';
import { adoptNonce, NotReconciled } from './adopt.ts';
import { createAlerts } from './alerts.ts';
import { resumeSettlement } from './pause.ts';
import { listPauses } from './pause-store.ts';
import { applyReconcile } from './reconcile.ts';
import { reconcileFunds } from './reconcile-pass.ts';
import { planReconcile } from './reconcile-plan.ts';
import { buildReport } from './reconcile-report.ts';

const sale = useSale();
afterEach(() => sale.resumeMining());

/** A mask for the fund's `stop` function. This bit makes the fund reject commits. */
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

  test('a row that is cancelled while its commit is in the mempool is named once it is mined, and adopted', async () => {
    const { ctx } = sale.app;
    const id = await submitCommit(sale, 3, 6n * UNIT);
    const { hash } = await firstAttempt(sale, id);
    await forgetTransaction(sale, id, 'commit');
    expect(await cancelParticipation(ctx, id)).toMatchObject({ status: 'failed' });
    sale.resumeMining();
    await sale.mine(70);
    const later = await sale.participate(sale.buyer(4), 2n * UNIT);
    const { round, settle } = saleWorker(sale);
    await round();
    expect(await blockedCount(sale, 'foreign_nonce')).toBeGreaterThan(0);
    const { chain } = operatorAccount();
    expect(await buildReport(ctx.db, chain)).toMatchObject({
      agrees: false,
      lost_transactions: [{ hash, kind: 'commit', participation_ids: [id] }],
    });
    const alerts = createAlerts(gaugesOf(sale.app), ctx.log, { chain: chain.name, address: 'reconcile' });
    await reconcileFunds(ctx, chain, { seconds: 0, delayMs: 1, alerts });
    expect(await listPauses(ctx.db)).toMatchObject([{ subject: 'harbour-sale', reason: 'unreconciled' }]);
    await applyReconcile(ctx, await planReconcile(ctx.db, chain));
    expect(await sale.statusOf(id)).toBe('completed');
    expect(await sale.reasonOf(id)).toBeNull();
    await resumeSettlement(ctx, 'harbour-sale');
    await settle();
    expect(await sale.statusOf(later.id)).toBe('completed');
    expect(await buildReport(ctx.db, chain)).toMatchObject({ agrees: true, differences: [] });
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
