import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { sql } from 'kysely';
import { createWalletClient, custom, type Hex } from 'viem';
import { sepolia } from 'viem/chains';
import { keccak256, toHex } from 'viem/utils';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type LyingNode, startLyingNode } from '../../../test/support/lying-node.ts';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import {
  blockedCount,
  expectDatabaseToMatchFund,
  forgetTransaction,
  submitCommit,
  useSale,
} from '../../../test/support/settlement.ts';
import { makeUser } from '../../../test/support/tokens.ts';
import { requestRemit } from '../participations/refunds.ts';
import { adoptNonce, NotReconciled } from './adopt.ts';
import { applyReconcile, PlanOutdated } from './reconcile.ts';
import { planReconcile } from './reconcile-plan.ts';

let second: LyingNode;
const sale = useSale({
  moreUrls: async (chain) => {
    second = await startLyingNode((await chain.addNode()).url);
    return [`${second.url}#provider=second`];
  },
});
afterEach(async () => {
  second.lie(null);
  sale.resumeMining();
  await sale.app.ctx.db.deleteFrom('settlement_pauses').execute();
});
afterAll(() => second.close());

const plan = () => planReconcile(sale.app.ctx.db, sale.app.ctx.chains.evm('ethereum_sepolia'), 0n);
const apply = async () => applyReconcile(sale.app.ctx, await plan());
const pausedOffers = async () =>
  (await sale.app.ctx.db.selectFrom('settlement_pauses').select('subject').execute()).map(
    ({ subject }) => subject,
  );

/** Commits a participation, and removes the transaction from the database, as a restore from a backup would. */
async function loseCommit(buyer: number, amount: bigint): Promise<{ id: string; address: Hex }> {
  const id = await submitCommit(sale, buyer, amount);
  await forgetTransaction(sale, id, 'commit');
  sale.resumeMining();
  await sale.mine(1);
  return { id, address: sale.buyer(buyer).address };
}

describe('reconciling', () => {
  test('finds nothing to do while the chain and the database agree, refunds included', async () => {
    const { settle } = saleWorker(sale);
    const { id } = await sale.participate(sale.buyer(0), 3n * UNIT);
    await sale.participate(sale.buyer(1), 4n * UNIT);
    await settle();
    await requestRemit(sale.app.ctx, id);
    await settle();
    expect(await plan()).toMatchObject({ events: 3, lost: [], differences: [] });
  });

  test('adopts a lost commit into its row, after which settlement goes on and commits nothing twice', async () => {
    const { id, address } = await loseCommit(2, 5n * UNIT);
    const { round } = saleWorker(sale);
    await round();
    expect(await blockedCount(sale, 'foreign_nonce')).toBeGreaterThan(0);
    const planned = await plan();
    expect(planned.lost).toMatchObject([{ kind: 'commit', rowIds: [id] }]);
    expect(planned.differences).toEqual([]);
    expect(await sale.statusOf(id)).toBe('pending');
    const { worker } = saleWorker(sale);
    await expect(adoptNonce(sale.app.ctx, worker.account)).rejects.toThrow(NotReconciled);
    expect(await sale.statusOf(id)).toBe('pending');
    await applyReconcile(sale.app.ctx, planned);
    expect(await sale.statusOf(id)).toBe('completed');
    expect(await sale.eventsOf(id)).toContain('completed');
    await expect(applyReconcile(sale.app.ctx, planned)).rejects.toThrow();
    const next = await sale.participate(sale.buyer(0), 6n * UNIT);
    await saleWorker(sale).settle();
    expect(await sale.statusOf(next.id)).toBe('completed');
    expect((await sale.totalsOf(address)).count).toBe(1n);
    expect(await plan()).toMatchObject({ lost: [], differences: [] });
    await expectDatabaseToMatchFund(sale);
  });

  test('adopts a commit whose row has failed since, and a lost refund', async () => {
    const { id } = await loseCommit(3, 7n * UNIT);
    await sql`update participations set status = 'failed', reason = 'expired' where id = ${id}`.execute(
      sale.app.ctx.db,
    );
    await apply();
    expect(await sale.statusOf(id)).toBe('completed');
    await requestRemit(sale.app.ctx, id);
    sale.pauseMining();
    await saleWorker(sale).round();
    await forgetTransaction(sale, id, 'remit');
    sale.resumeMining();
    await sale.mine(1);
    expect((await plan()).lost).toMatchObject([{ kind: 'remit', rowIds: [id] }]);
    await apply();
    expect(await sale.statusOf(id)).toBe('remitted');
    await saleWorker(sale).settle();
    await expectDatabaseToMatchFund(sale);
  });

  test('writes nothing if a row has changed since the plan was made', async () => {
    const { id } = await loseCommit(1, 9n * UNIT);
    const outdated = await plan();
    const { db } = sale.app.ctx;
    const nonces = () => db.selectFrom('operator_keys').select('next_nonce').execute();
    const before = await nonces();
    const change = (status: string) =>
      sql`update participations set status = ${status}, commit_id = (select id from operator_transactions limit 1),
        commit_row = 0 where id = ${id}`.execute(db);
    await change('submitted');
    await expect(applyReconcile(sale.app.ctx, outdated)).rejects.toThrow(PlanOutdated);
    expect(await nonces()).toEqual(before);
    expect(await sale.statusOf(id)).toBe('submitted');
    await sql`update participations set status = 'pending', commit_id = null, commit_row = null where id = ${id}`.execute(
      db,
    );
    await apply();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('takes the nonce of a transaction that was signed in place of the lost one, and releases its rows', async () => {
    const lost = await loseCommit(4, 8n * UNIT);
    const { db } = sale.app.ctx;
    const other = await sale.participate(sale.buyer(5), 2n * UNIT);
    // The restored database does not know the lost transaction, and the node hides the mempool, so the worker
    // signs with the same nonce again.
    const { worker, round } = saleWorker(sale);
    const { chain } = worker.account;
    const hidden: typeof chain.rpc.request = (call) =>
      call.method === 'eth_getTransactionCount' ? readStoredNonce() : chain.rpc.request(call);
    const readStoredNonce = async () => toHex((await nextNonce()) ?? 0n);
    const nextNonce = async () =>
      (await db.selectFrom('operator_keys').select('next_nonce').executeTakeFirstOrThrow()).next_nonce;
    const providers = () => chain.rpc.providers().map((rpc) => ({ ...rpc, request: hidden }));
    worker.account.chain = { ...chain, rpc: { ...chain.rpc, request: hidden, providers } };
    await sql`update participations set check_at = 'infinity' where id = ${lost.id}`.execute(db);
    await round();
    expect(await sale.statusOf(other.id)).toBe('submitted');
    await apply();
    expect(await sale.statusOf(lost.id)).toBe('completed');
    expect(await sale.statusOf(other.id)).toBe('pending');
    await saleWorker(sale).settle();
    expect(await sale.statusOf(other.id)).toBe('completed');
    expect(await plan()).toMatchObject({ lost: [], differences: [] });
    await expectDatabaseToMatchFund(sale);
  });
});

describe('anything else pauses the offer and changes no row', () => {
  const statuses = async () =>
    sale.app.ctx.db
      .selectFrom('participations')
      .select(['id', 'status', 'commit_id'])
      .orderBy('id')
      .execute();

  test('a row that is gone', async () => {
    const { id } = await loseCommit(0, 11n * UNIT);
    await sql`update participations set amount = amount + 1 where id = ${id}`.execute(sale.app.ctx.db);
    const before = await statuses();
    await apply();
    expect(await statuses()).toEqual(before);
    expect(await pausedOffers()).toEqual([sale.offer.id]);
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('pending');
    await sql`update participations set amount = amount - 1 where id = ${id}`.execute(sale.app.ctx.db);
    await apply();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('two providers that report different events', async () => {
    const { id } = await loseCommit(1, 12n * UNIT);
    second.lie((method, result) => (method === 'eth_getLogs' ? (result as unknown[]).slice(0, -1) : result));
    const { lost, differences } = await plan();
    expect(lost).toEqual([]);
    expect(differences).toMatchObject([{ offerIds: [sale.offer.id] }]);
    await apply();
    expect(await sale.statusOf(id)).toBe('pending');
    second.lie(null);
    await apply();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('rows of two users that fit the same event', async () => {
    const { id } = await loseCommit(2, 13n * UNIT);
    const { db } = sale.app.ctx;
    const copy = crypto.randomUUID();
    const user = await makeUser(sale.app.ctx, copy);
    await sql`insert into participations select (jsonb_populate_record(p, jsonb_build_object('id', ${copy}::text, 'user_id',
      ${user}::text, 'approval_hash', ${`\\x${'cd'.repeat(32)}`}::text))).* from participations p where id = ${id}`.execute(
      db,
    );
    await apply();
    expect(await sale.statusOf(id)).toBe('pending');
    expect(await pausedOffers()).toEqual([sale.offer.id]);
    await sql`delete from participations where id = ${copy}`.execute(db);
    await apply();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  /** Adds an equal participation with a few other columns, older than the first. */
  async function copyRow(id: string, changes: Record<string, string>): Promise<string> {
    const copy = crypto.randomUUID();
    const values = { ...changes, id: copy, approval_hash: `\\x${copy.replaceAll('-', '').repeat(2)}` };
    await sql`insert into participations select (jsonb_populate_record(p, ${JSON.stringify(values)}::jsonb
      || jsonb_build_object('inserted_at', p.inserted_at - interval '1 second'))).*
      from participations p where id = ${id}`.execute(sale.app.ctx.db);
    return copy;
  }

  test('a commit that fits a cancelled row and one that still waits: neither is taken for the other', async () => {
    const { id } = await loseCommit(2, 15n * UNIT);
    const { db } = sale.app.ctx;
    const cancelled = await copyRow(id, { status: 'failed', reason: 'cancelled' });
    const { lost, differences } = await plan();
    expect(lost).toEqual([]);
    expect(differences[0]?.participationIds.toSorted()).toEqual([id, cancelled].toSorted());
    await apply();
    expect([await sale.statusOf(id), await sale.statusOf(cancelled)]).toEqual(['pending', 'failed']);
    expect(await pausedOffers()).toEqual([sale.offer.id]);
    await sql`delete from participations where id = ${cancelled}`.execute(db);
    await apply();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('a refund that fits a row whose refund was requested and one that is completed', async () => {
    const { db } = sale.app.ctx;
    const { id } = await sale.participate(sale.buyer(2), 16n * UNIT);
    await saleWorker(sale).settle();
    await requestRemit(sale.app.ctx, id);
    sale.pauseMining();
    await saleWorker(sale).round();
    await forgetTransaction(sale, id, 'remit');
    sale.resumeMining();
    await sale.mine(1);
    const completed = await copyRow(id, { status: 'completed' });
    const { lost, differences } = await plan();
    expect(lost).toEqual([]);
    expect(differences.map(({ participationIds }) => participationIds.toSorted())).toContainEqual(
      [id, completed].toSorted(),
    );
    await sql`delete from participations where id = ${completed}`.execute(db);
    await apply();
    expect(await sale.statusOf(id)).toBe('remitted');
  });

  test('a refund that is older than the commit of the row that it fits', async () => {
    const { db } = sale.app.ctx;
    const amount = 14n * UNIT;
    const older = await sale.participate(sale.buyer(3), amount);
    await saleWorker(sale).settle();
    await requestRemit(sale.app.ctx, older.id);
    sale.pauseMining();
    await saleWorker(sale).round();
    await forgetTransaction(sale, older.id, 'remit');
    sale.resumeMining();
    await sale.mine(1);
    // The database lacks the participation, because it was restored from an older backup.
    await sql`update participations set amount = amount + 1 where id = ${older.id}`.execute(db);
    const newer = await sale.participate(sale.buyer(3), amount);
    await sql`update operator_keys set next_nonce = next_nonce + 1`.execute(db);
    await saleWorker(sale).settle();
    expect(await sale.statusOf(newer.id)).toBe('completed');
    await apply();
    expect(await sale.statusOf(newer.id)).toBe('completed');
    expect(await pausedOffers()).toEqual([sale.offer.id]);
    await db.deleteFrom('settlement_pauses').execute();
    await sql`update participations set amount = amount - 1 where id = ${older.id}`.execute(db);
    await apply();
    expect([await sale.statusOf(older.id), await sale.statusOf(newer.id)]).toEqual(['remitted', 'completed']);
    expect((await plan()).differences).toEqual([]);
  });

  test('a row of a known transaction that was changed by hand', async () => {
    const [row] = await sale.app.ctx.db
      .selectFrom('participations')
      .select('id')
      .where('status', '=', 'completed')
      .execute();
    const set = (committed: boolean) =>
      sql`update participations set committed = ${committed} where id = ${row?.id}`.execute(sale.app.ctx.db);
    await set(false);
    const { differences } = await plan();
    expect(differences).toHaveLength(1);
    expect(differences[0]).toMatchObject({ participationIds: [row?.id], offerIds: [sale.offer.id] });
    await set(true);
    expect((await plan()).differences).toEqual([]);
  });

  test('a row that records a commit of another amount', async () => {
    const { db } = sale.app.ctx;
    const [row] = await db
      .selectFrom('participations')
      .select('id')
      .where('status', '=', 'completed')
      .execute();
    const add = (units: number) =>
      sql`update participations set amount = amount + ${units} where id = ${row?.id}`.execute(db);
    await add(1);
    const { differences } = await plan();
    expect(differences).toHaveLength(1);
    expect(differences[0]).toMatchObject({ participationIds: [row?.id] });
    await add(-1);
    expect((await plan()).differences).toEqual([]);
  });

  test('a commit that a foreign key has sent', async () => {
    const { address } = sale.buyer(3);
    const { fund, usdc, option, chain } = sale;
    await chain.owner.writeContract({
      ...{ address: fund, abi: saleFund.abi, functionName: 'grantRoles', gas: 200_000n },
      args: [roles.deployer.address, 6n],
    } as never);
    const { id: pending } = await sale.participate(sale.buyer(3), 14n * UNIT);
    const transport = custom(chain.chain);
    const foreign = createWalletClient({ account: roles.deployer, chain: sepolia, transport });
    const args = [address, keccak256(toHex(option)), usdc, 14n * UNIT];
    await foreign.writeContract({
      ...{ address: fund, abi: saleFund.abi, functionName: 'commit', args, gas: 300_000n },
    } as never);
    await apply();
    expect(await pausedOffers()).toEqual([sale.offer.id]);
    expect(await sale.statusOf(pending)).toBe('pending');
    const { differences } = await plan();
    expect(differences[0]?.message).toContain('not an operator key');
  });
});
