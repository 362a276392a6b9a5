import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { expectAudited } from '../../../test/support/audited.ts';
import { makeOffer, tokenizedFile } from '../../../test/support/offers.ts';
import { type Buyer, saleWorker, UNIT } from '../../../test/support/sale.ts';
import { useSale } from '../../../test/support/settlement.ts';
import { evmWallet } from '../../../test/support/wallets.ts';
import { freezeParticipations } from '../holdings/participation-store.ts';
import { requestRemit } from '../participations/refunds.ts';
import { listPending } from '../settlement/pending-store.ts';
import { screenRows } from '../settlement/screen.ts';
import { listToRemit } from '../settlement/store.ts';
import { clearAddress, freezeSanctioned } from './hits.ts';
import { rescreen } from './rescreen.ts';
import { listOpenHits, readListStatus } from './store.ts';

const folder = mkdtempSync(join(tmpdir(), 'causeway-rescreen-'));
const sanctionsFile = join(folder, 'list.txt');
const others = Array.from({ length: 20 }, (_, i) => evmWallet(`other ${i}`).address);
writeFileSync(sanctionsFile, others.join('\n'));
const sale = useSale({ config: { sanctionsFile } });

afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => list());

/** Replaces the list, as an operator would, and waits until the node uses it. */
async function list(...addresses: string[]): Promise<void> {
  writeFileSync(sanctionsFile, [...others, ...addresses].join('\n'));
  await sale.app.ctx.sanctions.reload();
}

const frozenReasonOf = async (id: string) => {
  const { ctx } = sale.app;
  const row = await ctx.db
    .selectFrom('participations')
    .select('frozen_reason')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return row.frozen_reason;
};

test('a changed list freezes pending participations and refunds of listed wallets, and nothing is sent', async () => {
  const { ctx } = sale.app;
  const { settle } = saleWorker(sale);
  const paid = await sale.participate(sale.buyer(0), 5n * UNIT);
  await settle();
  const innocent = await sale.participate(sale.buyer(1), 7n * UNIT);
  await requestRemit(ctx, paid.id);
  const pending = await sale.participate(sale.buyer(0), 11n * UNIT);
  const before = await sale.totalsOf(sale.buyer(0).address);

  await list(sale.buyer(0).address);
  const found = await rescreen(ctx);
  expect(found.map(({ subject }) => subject)).toEqual(['wallet', 'participation', 'participation']);
  expect(found.map(({ subject_id }) => subject_id)).toEqual(expect.arrayContaining([paid.id, pending.id]));
  expect(await rescreen(ctx)).toEqual([]);
  await settle();
  expect(await sale.totalsOf(sale.buyer(0).address)).toEqual(before);
  expect([
    await sale.statusOf(pending.id),
    await sale.statusOf(paid.id),
    await sale.statusOf(innocent.id),
  ]).toEqual(['pending', 'remit_submitted', 'completed']);
  expect(await frozenReasonOf(pending.id)).toBe('sanctions');
  const shown = await sale.person.call('GET', `/v1/participations/${pending.id}`);
  expect(JSON.stringify(shown.body)).not.toMatch(/sanction|frozen/);
  expect(await listOpenHits(ctx.db)).toHaveLength(3);
  expect(await readListStatus(ctx.db)).toMatchObject({ screened_hash: ctx.sanctions.hash(), open_hits: 3 });

  await expect(clearAddress(ctx, sale.buyer(0).address, 'mistake')).rejects.toMatchObject({
    code: 'validation_failed',
  });
  await list();
  await rescreen(ctx);
  expect(await frozenReasonOf(pending.id)).toBe('sanctions');
  expect(await clearAddress(ctx, sale.buyer(0).address, 'delisted')).toBe(3);
  await settle();
  expect([await sale.statusOf(pending.id), await sale.statusOf(paid.id)]).toEqual(['completed', 'remitted']);
  await expectAudited(
    ctx,
    'sanctions.hit',
    'sanctions.cleared',
    'participation.frozen',
    'participation.unfrozen',
  );
  await expectAudited(ctx, 'participation.pending', 'participation.submitted');
  await expectAudited(
    ctx,
    'participation.completed',
    'participation.remit_submitted',
    'participation.remitted',
  );
  await expectAudited(ctx, 'transaction.open', 'transaction.settled');
});

test('a list that changes after the last screening stops a commit and a refund at signing', async () => {
  const { settle } = saleWorker(sale);
  const paid = await sale.participate(sale.buyer(2), 5n * UNIT);
  await settle();
  await requestRemit(sale.app.ctx, paid.id);
  const pending = await sale.participate(sale.buyer(2), 6n * UNIT);
  const before = await sale.totalsOf(sale.buyer(2).address);
  await list(sale.buyer(2).address);
  await settle();
  expect(await sale.totalsOf(sale.buyer(2).address)).toEqual(before);
  expect([await frozenReasonOf(paid.id), await frozenReasonOf(pending.id)]).toEqual([
    'sanctions',
    'sanctions',
  ]);
});

/** Creates a refund and a pending participation of a buyer, and reads them as a settlement round does. */
async function startRound(buyer: Buyer) {
  const { ctx } = sale.app;
  const { worker, settle } = saleWorker(sale);
  const { id: refund } = await sale.participate(buyer, 5n * UNIT);
  await settle();
  await requestRemit(ctx, refund);
  const { id: commit } = await sale.participate(buyer, 6n * UNIT);
  const limits = { clock: ctx.clock, defaultHours: 24 };
  const anyBlock = { committedBelow: 2n ** 62n, releasedBelow: 2n ** 62n };
  const commits = await listPending(ctx.db, 'ethereum_sepolia', limits, [], 10);
  const refunds = await listToRemit(ctx.db, 'ethereum_sepolia', anyBlock, [], 10);
  const rows = [...commits, ...refunds].filter(({ id }) => id === refund || id === commit);
  expect(rows.map(({ id }) => id)).toEqual([commit, refund]);
  /** Makes the last check before the rows are signed. */
  const screen = async () => {
    expect(await screenRows(worker, 'commit', rows.slice(0, 1))).toEqual([]);
    expect(await screenRows(worker, 'refund', rows.slice(1))).toEqual([]);
  };
  const expectResumed = async () => {
    expect([await frozenReasonOf(commit), await frozenReasonOf(refund)]).toEqual([null, null]);
    await settle();
    expect([await sale.statusOf(commit), await sale.statusOf(refund)]).toEqual(['completed', 'remitted']);
  };
  return { ids: [commit, refund], screen, expectResumed };
}

test('a list that changes within a round records a hit for each row that it freezes, and clear resumes them', async () => {
  const { ctx } = sale.app;
  const { ids, screen, expectResumed } = await startRound(sale.buyer(4));
  await list(sale.buyer(4).address);
  await screen();
  const hits = (await listOpenHits(ctx.db)).filter(({ address }) => address === sale.buyer(4).address);
  expect(hits.map(({ subject_id }) => subject_id).toSorted()).toEqual(ids.toSorted());
  expect(await rescreen(ctx)).toHaveLength(1);
  await list();
  expect(await clearAddress(ctx, sale.buyer(4).address, 'delisted')).toBe(3);
  await expectResumed();
});

/** Returns how many sessions wait for a lock. */
async function countWaiting(): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    sale.app.ctx.db,
  );
  return rows.length;
}

test('clear waits for rows that are being frozen, and resumes them', async () => {
  const { ctx } = sale.app;
  const { address: user } = sale.buyer(4);
  const { ids, expectResumed } = await startRound(sale.buyer(4));
  await list(user);
  let freezing: Promise<unknown> | undefined;
  let clearing: Promise<unknown> | undefined;
  await ctx.db.transaction().execute(async (tx) => {
    await sql`select from participations where id = ${ids[1]} for update`.execute(tx);
    freezing = freezeSanctioned(ctx, [{ user }]);
    await expect.poll(countWaiting, { interval: 10 }).toBe(1);
    await list();
    let isCleared = false;
    clearing = clearAddress(ctx, user, 'delisted').finally(() => (isCleared = true));
    await expect.poll(async () => isCleared || (await countWaiting()) === 2, { interval: 10 }).toBe(true);
  });
  expect(await freezing).toEqual([]);
  await clearing;
  expect((await listOpenHits(ctx.db)).filter(({ address }) => address === user)).toEqual([]);
  await expectResumed();
});

test('clear resumes every row that a sanction froze, also without a hit', async () => {
  const { ctx } = sale.app;
  const { ids, expectResumed } = await startRound(sale.buyer(5));
  await freezeParticipations(ctx.db, [sale.buyer(5).address]);
  expect(await Promise.all(ids.map(frozenReasonOf))).toEqual(['sanctions', 'sanctions']);
  await clearAddress(ctx, sale.buyer(5).address, 'delisted');
  await expectResumed();
});

test('a hold within a round does not replace a sanction, so that clear still resumes the rows', async () => {
  const { ctx } = sale.app;
  const { ids, screen, expectResumed } = await startRound(sale.buyer(5));
  await list(sale.buyer(5).address);
  await rescreen(ctx);
  await list();
  const setHold = (held_at: string | null) => ctx.db.updateTable('users').set({ held_at }).execute();
  await setHold('2026-01-01T00:00:00Z');
  await screen();
  expect(await Promise.all(ids.map(frozenReasonOf))).toEqual(['sanctions', 'sanctions']);
  await setHold(null);
  await clearAddress(ctx, sale.buyer(5).address, 'delisted');
  await expectResumed();
});

test('a changed list finds bound wallets and live orders, and the alert names the order', async () => {
  const { ctx, logged } = sale.app;
  const wallet = evmWallet('bound then listed');
  const bound = await sale.person.bind(sale.offer.id, sale.option, wallet);
  expect(bound.status).toBe(200);
  const swap = await makeOffer(ctx, tokenizedFile());
  const { user_id, partner_id } = await ctx.db
    .selectFrom('option_addresses')
    .select(['user_id', 'partner_id'])
    .where('address', '=', wallet.address)
    .executeTakeFirstOrThrow();
  const order = '01890000-0000-7000-8000-00000000abcd';
  const now = new Date(ctx.clock.now()).toISOString();
  const other = evmWallet('asset').address;
  await ctx.db
    .insertInto('tokenized_orders')
    .values({
      ...{ id: order, partner_id, user_id, offer_id: swap.id, symbol: 'X', chain: 'ethereum_sepolia' },
      ...{
        wallet: wallet.address,
        swap: other,
        asset: other,
        token: other,
        amount: '1',
        fee: '0',
        claim: null,
      },
      ...{ state: 'live', holding: true, expires_at: now, inserted_at: now, updated_at: now },
    })
    .execute();
  await list(wallet.address);
  expect((await rescreen(ctx)).map(({ subject }) => subject)).toEqual(['wallet', 'order']);
  expect(logged()).toContain(`sanctions hit: order ${order}`);
});

test('any number of nodes screen at once and record every hit once', async () => {
  const { ctx } = sale.app;
  await sale.participate(sale.buyer(3), 5n * UNIT);
  await list(sale.buyer(3).address);
  const found = await Promise.all(Array.from({ length: 8 }, () => rescreen(ctx)));
  expect(found.flat().map(({ subject }) => subject)).toEqual(['wallet', 'participation']);
});

test('a node freezes what only its own list has while another node still has an older file', async () => {
  const { ctx } = sale.app;
  const { address: user } = sale.buyer(1);
  const { ids } = await startRound(sale.buyer(1));
  const addresses = new Set([...ctx.sanctions.addresses(), user.toLowerCase()]);
  const newer = { ...ctx, sanctions: { ...ctx.sanctions, addresses: () => addresses } };
  expect((await rescreen(newer)).map(({ subject_id }) => subject_id)).toEqual(expect.arrayContaining(ids));
  expect(await Promise.all(ids.map(frozenReasonOf))).toEqual(ids.map(() => 'sanctions'));
});

test('a node that still has the previous list freezes nothing again after a clear', async () => {
  const { ctx } = sale.app;
  const { address: user } = sale.buyer(5);
  const { ids } = await startRound(sale.buyer(5));
  await list(user);
  await rescreen(ctx);
  const [addresses, hash] = [new Set(ctx.sanctions.addresses()), ctx.sanctions.hash()];
  const old = {
    ...ctx,
    sanctions: {
      ...ctx.sanctions,
      has: (address: string) => addresses.has(address.toLowerCase()),
      addresses: () => addresses,
      hash: () => hash,
    },
  };
  await list();
  await clearAddress(ctx, user, 'delisted');
  expect(await rescreen(old)).toEqual([]);
  expect(await freezeSanctioned(old, [{ user }])).toEqual([]);
  expect(await Promise.all(ids.map(frozenReasonOf))).toEqual(ids.map(() => null));
  // Once the address is listed again, the clearing does not count any more.
  await list(user);
  expect((await rescreen(ctx)).length).toBeGreaterThan(0);
});
