import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { putFacts } from '../../../test/support/facts.ts';
import { ADDRESS, makeOffer, tokenizedFile } from '../../../test/support/offers.ts';
import { runHousekeeping } from '../../edges/housekeeping.ts';
import { newId } from '../../kernel/ids.ts';
import type { Database } from '../../platform/db/tables.ts';
import { eraseUser } from '../erasure/erasure.ts';

const DAY_S = 86_400;
const STATES: Database['tokenized_orders']['state'][] = [
  ...(['asking', 'unknown', 'attested', 'live', 'executed'] as const),
  ...(['expired', 'refused', 'failed', 'abandoned'] as const),
];
const NO_REVIEWS = {
  Sorting_KYC_Level: null,
  BasicKYCLevel: null,
  AccreditationIndividual_FullVerification: null,
};
let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  await insertOrders();
});
afterAll(() => app.close());

/** Inserts one order per state. The last change of each order is dated now. */
async function insertOrders(): Promise<void> {
  const { ctx, clock } = app;
  await app.tokenFor();
  const offer = await makeOffer(ctx, tokenizedFile());
  const user = await ctx.db.selectFrom('users').select('id').executeTakeFirstOrThrow();
  const partner = await ctx.db.selectFrom('partners').select('id').executeTakeFirstOrThrow();
  const now = new Date(clock.now()).toISOString();
  const rows = STATES.map((state, index) => ({
    id: newId(clock, ctx.random),
    ...{ partner_id: partner.id, user_id: user.id, offer_id: offer.id, state, holding: false },
    ...{
      symbol: 'HBRon',
      chain: 'ethereum_sepolia',
      wallet: `0x${String(index).repeat(40)}`,
      amount: '1',
      fee: '0',
    },
    ...{ swap: ADDRESS.swap, asset: ADDRESS.asset, token: ADDRESS.usdc },
    claim: createHash('sha256').update(state).digest(),
    ...{ expires_at: now, inserted_at: now, updated_at: now },
  }));
  await ctx.db.insertInto('tokenized_orders').values(rows).execute();
}

async function runAndList(): Promise<{ states: string[]; claimed: string[] }> {
  await runHousekeeping(app.ctx);
  const rows = await app.ctx.db
    .selectFrom('tokenized_orders')
    .select(['state', 'claim'])
    .orderBy('wallet')
    .execute();
  const claimed = rows.filter(({ claim }) => claim !== null);
  return { states: rows.map(({ state }) => state), claimed: claimed.map(({ state }) => state) };
}

test('orders are kept for 90 days', async () => {
  expect(await runAndList()).toEqual({ states: STATES, claimed: STATES });
  app.clock.advance(DAY_S + 1);
  expect(await runAndList()).toEqual({
    states: STATES,
    claimed: STATES.filter((state) => state !== 'executed'),
  });
  app.clock.advance(89 * DAY_S - 2);
  expect((await runAndList()).states).toEqual(STATES);
});

test('only orders that ended without a trade are deleted', async () => {
  app.clock.advance(2);
  const retained = ['asking', 'unknown', 'attested', 'live', 'executed'];
  expect((await runAndList()).states).toEqual(retained);
  app.clock.advance(20 * 365 * DAY_S);
  expect((await runAndList()).states).toEqual(retained);
});

test('a trade keeps the personal data and the bound wallets of an erased user', async () => {
  const { ctx } = app;
  const { db } = ctx;
  const { user_id, partner_id } = await db
    .selectFrom('tokenized_orders')
    .select(['user_id', 'partner_id'])
    .executeTakeFirstOrThrow();
  await putFacts(ctx, { userId: user_id, hasForm: false, reviews: NO_REVIEWS });
  const option = await db.selectFrom('offer_options').select('id').executeTakeFirstOrThrow();
  const now = new Date(app.clock.now()).toISOString();
  const wallet = { protocol: 'ethereum' as const, address: `0x${'4'.repeat(40)}` };
  const proof = { proved_chain: 'ethereum_sepolia', proved_at: now, created_at: now };
  await db
    .insertInto('option_addresses')
    .values({
      id: newId(app.clock, ctx.random),
      option_id: option.id,
      user_id,
      partner_id,
      ...wallet,
      ...proof,
    })
    .execute();
  const { kept, keep_until } = await eraseUser(ctx, user_id, 'requested');
  expect(kept).toContain('trades of tokenized assets: amounts, wallets, dates and outcomes');
  expect(keep_until).not.toBeNull();
  const pii = await db.selectFrom('pii').select('restricted_until').execute();
  expect(pii).toEqual([{ restricted_until: keep_until }]);
  expect(await db.selectFrom('option_addresses').select('address').execute()).toHaveLength(1);
});
