import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { expectAudited } from '../../../test/support/audited.ts';
import { countStatements } from '../../../test/support/count-statements.ts';
import { putFacts } from '../../../test/support/facts.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { partnerOf, USER } from '../../../test/support/tokens.ts';
import { evmWallet, type Person, person, proveWallets, userId } from '../../../test/support/wallets.ts';
import { isValid } from '../../kernel/validation.ts';
import type { Offer } from '../../platform/context/ports.ts';
import { eraseUser } from '../erasure/erasure.ts';
import { releaseHold } from '../holdings/freeze.ts';
import { holdUser, showHolds } from '../users/hold.ts';
import { decideCommits } from './commit.ts';
import { lockEligible } from './gate.ts';
import { type Check, Eligibility } from './schema.ts';

let app: TestApp;
let user: Person;
let offer: Offer;

beforeAll(async () => {
  app = await testApp();
  user = await person(app);
  const requirements = [
    { type: 'kyc_approved' },
    { type: 'external_wallet', details: { protocol: 'ethereum' } },
  ];
  offer = await makeOffer(
    app.ctx,
    saleFile({
      options: [
        { slug: 'open', price_usd: '2', total_token_supply: '10' },
        { slug: 'checked', requirements },
      ] as never,
    }),
  );
});
afterAll(() => app.close());

const wallet = evmWallet('eligible');
const read = async (query = '', caller = user) =>
  (await caller.call('GET', `/v1/offers/${offer.id}/eligibility${query}`)).body as unknown as Eligibility & {
    code?: string;
  };
const failed = (checks: readonly Check[] = []) =>
  checks.filter(({ status }) => status !== 'passed').map(({ code, status }) => [code, status]);

describe('GET /v1/offers/{offer_id}/eligibility', () => {
  test('lists the checks of every option with what to do next', async () => {
    const body = await read();
    expect(isValid(Eligibility, body)).toBe(true);
    expect(body).toMatchObject({ object: 'eligibility', offer_id: offer.id, eligible: false });
    expect(body.options.map(({ checks }) => checks.map(({ code }) => code))).toEqual([
      ['account', 'sanctions', 'country_policy', 'offer_window', 'wallet_proof', 'supply'],
      [
        ...['account', 'sanctions', 'country_policy', 'kyc_approved', 'external_wallet'],
        ...['offer_window', 'wallet_proof', 'supply'],
      ],
    ]);
    expect(failed(body.options[0]?.checks)).toEqual([['wallet_proof', 'action_needed']]);
    const kyc = body.options[1]?.checks.find(({ code }) => code === 'kyc_approved');
    expect(kyc).toEqual({
      object: 'check',
      code: 'kyc_approved',
      requirement_id: offer.options[1]?.requirements[0]?.id,
      status: 'action_needed',
      message: 'Complete your identity verification.',
      until: null,
      next: {
        type: 'identity',
        method: 'POST',
        path: '/v1/kyc-token',
        body: { level_name: 'BasicKYCLevel', reset: false },
      },
    });
  });

  test('counts any proven wallet, or the named one only', async () => {
    const prover = await person(app, { userId: userId(1) });
    await proveWallets(app.ctx, [wallet.address], { userId: userId(1) });
    expect(await read('', prover)).toMatchObject({ eligible: true, options: [{ eligible: true }, {}] });
    const named = `?chain=ethereum_sepolia&wallet_address=${wallet.address.toUpperCase().replace('0X', '0x')}`;
    expect((await read(named, prover)).eligible).toBe(true);
    const other = await read(`?wallet_address=${evmWallet('other').address}`, prover);
    expect(failed(other.options[0]?.checks)).toEqual([['wallet_proof', 'action_needed']]);
  });

  test('rejects an invalid wallet address and a chain without a deployment', async () => {
    expect((await read('?wallet_address=nonsense')).code).toBe('validation_failed');
    expect((await read('?chain=base_sepolia')).code).toBe('chain_not_supported');
  });

  test('says that an option is sold out', async () => {
    const id = '01890000-0000-7000-8000-00000000f001';
    await sql`insert into participations (id, partner_id, user_id, offer_id, offer_option_id, status, amount, asset_id,
        asset_code, asset_name, asset_digits, chain, wallet_address, fund_address, token_address, approval_hash, price_usd,
        prepared_at, inserted_at, updated_at)
      select ${id}, '01890000-0000-7000-8000-000000000001', ${USER}, ${offer.id}, ${offer.options[0]?.id}, 'pending',
        20000000, 'usd-coin', 'USDC', 'USD Coin', 6, 'ethereum_sepolia', ${wallet.address}, ${`0x${'f1'.repeat(20)}`},
        ${`0x${'c0'.repeat(20)}`}, ${Buffer.alloc(32, 9)}, 2, now(), now(), now()`.execute(app.ctx.db);
    const supply = async () =>
      (await read()).options[0]?.checks.find(({ code }) => code === 'supply')?.status;
    expect(await supply()).toBe('rejected');
    await sql`update participations set amount = 19999999 where id = ${id}`.execute(app.ctx.db);
    expect(await supply()).toBe('passed');
    // A frozen participation no longer reserves supply.
    await sql`update participations set amount = 20000000, frozen_reason = 'hold' where id = ${id}`.execute(
      app.ctx.db,
    );
    expect(await supply()).toBe('passed');
    await sql`delete from participations where id = ${id}`.execute(app.ctx.db);
  });
});

test('the dry run reads the database in one round trip', async () => {
  await read();
  expect(await countStatements(app.ctx.pool, read)).toEqual({ connections: 1, statements: 1 });
});

describe('an account on hold', () => {
  const reason = 'suspected of a secret thing';
  const held = userId(50);

  test('reads, writes nothing, and nobody learns why', async () => {
    const holder = await person(app, { userId: held });
    const mine = evmWallet('held');
    const { body: bound } = await holder.bind(offer.id, offer.options[0]?.id ?? '', mine);
    await holdUser(app.ctx, held, reason);
    const writes = [
      ['POST', '/v1/wallet-ownership', { wallet_address: mine.address, chain: mine.chain }],
      ['POST', `/v1/offers/${offer.id}/addresses`, {}],
      ['DELETE', `/v1/offers/${offer.id}/addresses/${bound.id}`, undefined],
      ['POST', `/v1/offers/${offer.id}/allow-wallet`, {}],
      ['POST', '/v1/kyc-token', {}],
      ['POST', '/v1/documents/tax_certification/submission', {}],
      ['POST', '/v1/participations', {}],
      ['POST', '/v1/tokenized/swap/transaction', {}],
    ] as const;
    for (const [method, path, body] of writes) {
      const answer = await holder.call(method, path, body);
      expect([path, answer.status, answer.body.code]).toEqual([path, 403, 'account_restricted']);
      expect(answer.body.errors).toMatchObject({ checks: [{ code: 'account', next: { type: 'contact' } }] });
      expect(JSON.stringify(answer.body)).not.toContain('secret thing');
    }
    for (const path of ['addresses', 'requirements/statuses', 'eligibility'])
      expect((await holder.call('GET', `/v1/offers/${offer.id}/${path}`)).status).toBe(200);
    expect(failed((await read('', holder)).options[0]?.checks)).toEqual([['account', 'rejected']]);
    const events = await app.ctx.db.selectFrom('events').selectAll().execute();
    expect(
      JSON.stringify(events, (_key, value) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain('secret');
    expect(app.logged()).not.toContain('secret thing');
  });

  test('cannot be erased, and its wallets cannot be proven by another account', async () => {
    await expect(eraseUser(app.ctx, held, 'requested')).rejects.toMatchObject({ code: 'account_restricted' });
    const other = await person(app, { userId: userId(51) });
    const { body } = await other.bind(offer.id, offer.options[0]?.id ?? '', evmWallet('held'));
    expect(body.code).toBe('wallet_restricted');
  });

  test('works again after its release, and the record keeps both reasons', async () => {
    await releaseHold(app.ctx, held, 'cleared');
    const holder = await person(app, { userId: held });
    const { status } = await holder.call('POST', '/v1/wallet-ownership', {
      wallet_address: wallet.address,
      chain: wallet.chain,
    });
    expect(status).toBe(200);
    expect(await showHolds(app.ctx, held)).toMatchObject({
      isHeld: false,
      holds: [{ reason, release_reason: 'cleared' }],
    });
  });

  test('gets no stored reply of an idempotent request', async () => {
    const id = userId(52);
    const holder = await person(app, { userId: id });
    const body = { wallet_address: wallet.address, chain: wallet.chain };
    const key = { 'idempotency-key': 'held-1' };
    expect((await holder.call('POST', '/v1/wallet-ownership', body, key)).status).toBe(200);
    await holdUser(app.ctx, id, reason);
    expect((await holder.call('POST', '/v1/wallet-ownership', body, key)).body.code).toBe(
      'account_restricted',
    );
  });
});

test('an account is not erased while money may still move for it', async () => {
  const id = userId(60);
  await person(app, { userId: id });
  await sql`insert into participations (id, partner_id, user_id, offer_id, offer_option_id, status, amount, asset_id,
      asset_code, asset_name, asset_digits, chain, wallet_address, fund_address, token_address, approval_hash,
      prepared_at, inserted_at, updated_at)
    select '01890000-0000-7000-8000-00000000f002', '01890000-0000-7000-8000-000000000001', ${id}, ${offer.id},
      ${offer.options[0]?.id}, 'pending', 1, 'usd-coin', 'USDC', 'USD Coin', 6, 'ethereum_sepolia', ${wallet.address},
      ${`0x${'f1'.repeat(20)}`}, ${`0x${'c0'.repeat(20)}`}, ${Buffer.alloc(32, 8)}, now(), now(), now()`.execute(
    app.ctx.db,
  );
  await expect(eraseUser(app.ctx, id, 'requested')).rejects.toMatchObject({ code: 'validation_failed' });
  await sql`update participations set status = 'failed' where user_id = ${id}`.execute(app.ctx.db);
  await expect(eraseUser(app.ctx, id, 'requested')).resolves.toMatchObject({ user_id: id });
});

test.each(['erased', 'put on hold'])(
  'an account that is %s while it proves a wallet keeps no proof',
  async (what) => {
    const id = userId(what === 'erased' ? 61 : 62);
    const late = await person(app, { userId: id });
    const mine = evmWallet(`late ${what}`);
    const signature = String(mine.sign(await late.challenge(mine)));
    const { signatures } = app.ctx.forPartner(partnerOf('partner-one'));
    const { check } = signatures;
    signatures.check = async (input) => {
      const kind = await check(input);
      await (what === 'erased'
        ? eraseUser(app.ctx, id, 'requested')
        : holdUser(app.ctx, id, 'arrives in between'));
      return kind;
    };
    const answer = await late.connect(offer.id, offer.options[0]?.id ?? '', mine, signature).finally(() => {
      signatures.check = check;
    });
    expect(answer.body.code).toBe(what === 'erased' ? 'unauthorized' : 'account_restricted');
    for (const table of ['wallet_proofs', 'option_addresses'] as const)
      expect(
        await app.ctx.db.selectFrom(table).select('user_id').where('user_id', '=', id).execute(),
      ).toEqual([]);
  },
);

test('a refusal in the transaction of the result is in the audit log, although the transaction is rolled back', async () => {
  const caller = { userId: USER, partnerId: partnerOf('partner-one') };
  const gate = { offer, options: offer.options, wallet: evmWallet('refused').address };
  await expect(
    app.ctx.db.transaction().execute((tx) => lockEligible(app.ctx, tx, caller, 'participate', gate)),
  ).rejects.toThrow();
  const entries = sql<{
    entry: string;
  }>`select entry from audit_entries where entry like '%"eligibility.refused"%'`;
  await expect
    .poll(async () => (await entries.execute(app.ctx.db)).rows.map(({ entry }) => JSON.parse(entry)).at(-1))
    .toMatchObject({
      ...{ actor: { object: 'user', id: caller.userId }, subject: { object: 'offer', id: offer.id } },
      reason: expect.stringMatching(/^[a-z_]+$/),
    });
  await expectAudited(app.ctx, 'eligibility.refused');
});

test('a node that does not know a requirement type of a newer release answers 503 until a newer node is asked', async () => {
  const options = [{ slug: 'only', requirements: [{ type: 'kyc_approved' }] }] as never;
  const newer = await makeOffer(app.ctx, saleFile({ slug: 'newer', options }));
  const id = newer.options[0]?.id ?? '';
  const { db } = app.ctx;
  await sql`alter table requirements drop constraint requirements_type_check`.execute(db);
  await sql`update requirements set type = 'questionnaire' where option_id = ${id}`.execute(db);
  const headers = { authorization: `Bearer ${await app.tokenFor()}` };
  const get = (path: string) => app.app.inject({ url: `/v1/offers/${newer.id}${path}`, headers });
  // The node learns of the change from a notification, which may take a moment.
  await expect.poll(async () => (await get('/requirements')).statusCode).toBe(503);
  for (const reply of [await get('/requirements'), await get('/eligibility')]) {
    expect([reply.statusCode, reply.json().code]).toEqual([503, 'unavailable']);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
  }
  const mine = evmWallet('newer');
  const caller = { userId: USER, partnerId: partnerOf('partner-one') };
  const input = { offer: newer, options: newer.options, wallet: mine.address };
  const gate = db.transaction().execute((tx) => lockEligible(app.ctx, tx, caller, 'participate', input));
  await expect(gate).rejects.toMatchObject({ code: 'unavailable' });
  expect(Object.values((await get('/requirements/statuses')).json().statuses)).toEqual(['action_needed']);
  expect((await get('')).statusCode).toBe(200);
  const commit = {
    id: '',
    ...caller,
    offerId: newer.id,
    optionId: id,
    chain: mine.chain,
    user: mine.address,
  };
  expect(await decideCommits(app.ctx, [commit])).toEqual([{ to: 'wait' }]);
});

test('a payment waits for the end of a review, and fails only if the requirement is lost', async () => {
  const options = [{ slug: 'only', requirements: [{ type: 'kyc_approved' }] }] as never;
  const reviewed = await makeOffer(app.ctx, saleFile({ slug: 'reviewed', options }));
  const mine = evmWallet('reviewed');
  await proveWallets(app.ctx, [mine.address]);
  const optionId = reviewed.options[0]?.id ?? '';
  const row = { id: '', userId: USER, partnerId: partnerOf('partner-one'), offerId: reviewed.id, optionId };
  const decide = async () =>
    (await decideCommits(app.ctx, [{ ...row, chain: mine.chain, user: mine.address }]))[0];
  await putFacts(app.ctx);
  expect(await decide()).toEqual({ to: 'send' });
  await putFacts(app.ctx, { reviews: { BasicKYCLevel: 'pending' } });
  expect(await decide()).toEqual({ to: 'wait' });
  // Approved again, but the approved person has not been read from the provider yet.
  await putFacts(app.ctx);
  await sql`update identity_reviews set person_hash = '' where user_id = ${USER}`.execute(app.ctx.db);
  await sql`update identity_applicants set due_at = now() where user_id = ${USER}`.execute(app.ctx.db);
  expect(await decide()).toEqual({ to: 'wait' });
  for (const review of ['RETRY', 'FINAL', null] as const) {
    await putFacts(app.ctx, { reviews: { BasicKYCLevel: review } });
    expect(await decide()).toEqual({ to: 'fail', reason: 'requirements_not_met: kyc_approved' });
  }
  // A participation whose wallet is no longer proven fails, even while a review is in progress.
  await putFacts(app.ctx, { reviews: { BasicKYCLevel: 'pending' } });
  await sql`delete from wallet_proofs where address = ${mine.address}`.execute(app.ctx.db);
  expect(await decide()).toMatchObject({ to: 'fail' });
});

test('a purchase that waited for a lock sees everything that was committed meanwhile', async () => {
  const { ctx } = app;
  const options = [{ slug: 'only', requirements: [{ type: 'kyc_approved' }] }] as never;
  const contested = await makeOffer(ctx, saleFile({ slug: 'contested', options }));
  const caller = { userId: userId(40), partnerId: partnerOf('partner-one') };
  const mine = evmWallet('contested').address;
  await person(app, { userId: caller.userId });
  const reset = async () => {
    await sql`update users set held_at = null where id = ${caller.userId}`.execute(ctx.db);
    await putFacts(ctx, { userId: caller.userId });
    await proveWallets(ctx, [mine], { userId: caller.userId });
  };
  const input = { offer: contested, options: contested.options, wallet: mine };
  const lock = () =>
    ctx.db.transaction().execute((tx) => lockEligible(ctx, tx, caller, 'participate', input));
  await reset();
  expect((await lock()).id).toBe(contested.id);
  const waiting = sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  for (const [change, code] of [
    [sql`update users set held_at = now() where id = ${caller.userId}`, 'account_restricted'],
    [sql`delete from wallet_proofs where address = ${mine}`, 'wallet_not_proven'],
    [
      sql`with applicant as (update identity_applicants set due_at = now() where user_id = ${caller.userId})
        delete from identity_reviews where user_id = ${caller.userId}`,
      'requirements_not_met',
    ],
    [sql`update offers set closed_at = '2026-01-01T00:00:00Z' where id = ${contested.id}`, 'offer_ended'],
    [
      sql`with locked as (select from offers where id = ${contested.id} for update)
        delete from offer_partners where offer_id = ${contested.id} and (select count(*) from locked) = 1`,
      'not_found',
    ],
  ] as const) {
    await reset();
    const tx = await ctx.db.startTransaction().execute();
    await change.execute(tx);
    const outcome = lock().then(
      () => 'eligible',
      (error: { code: string }) => error.code,
    );
    await expect.poll(async () => (await waiting.execute(ctx.db)).rows.length).toBe(1);
    await tx.commit().execute();
    expect(await outcome).toBe(code);
  }
});
