import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setScopes } from '../src/domain/partners/partner.ts';
import { SCOPES } from '../src/kernel/access.ts';
import { type TestApp, testApp } from './support/app.ts';
import { makeOffer, saleFile, tokenizedFile } from './support/offers.ts';
import { makeUser, partnerOf } from './support/tokens.ts';
import { userId } from './support/wallets.ts';

const ALL = ['offers:read', 'participations:read'];
const SHY = userId(1);
const OPEN = userId(2);
let app: TestApp;
let tokens: { shy: string; open: string; partner: string };
let sale: string;

beforeAll(async () => {
  app = await testApp();
  const { ctx } = app;
  const options = [
    { slug: 'a', price_usd: '1.50', total_token_supply: '1000' },
    { slug: 'b', price_usd: '1.25', total_token_supply: '0.5' },
  ];
  const offer = await makeOffer(ctx, saleFile({ options: options as never }));
  sale = offer.id;
  await makeOffer(ctx, tokenizedFile());
  await makeUser(ctx, SHY, 'shy@user.test');
  await makeUser(ctx, OPEN, 'open@user.test');
  tokens = {
    shy: await app.tokenFor({ userId: SHY, scopes: new Set(ALL) }),
    open: await app.tokenFor({ userId: OPEN, scopes: new Set([...ALL, 'email']) }),
    partner: await app.tokenFor({ userId: null, scopes: new Set(ALL) }),
  };
  const signer = `0x${'0'.repeat(40)}`;
  await sql`insert into operator_keys (chain, address, next_nonce, epoch, node, lease_until) values ('ethereum_sepolia', ${signer}, 1, 1, 1, now())`.execute(
    ctx.db,
  );
  await sql`insert into operator_transactions (id, chain, signer, nonce, kind, target, data, gas)
    values (${userId(9)}, 'ethereum_sepolia', ${signer}, 0, 'commit', '0x', '', 1)`.execute(ctx.db);
  await sql`insert into operator_attempts (hash, transaction_id, raw, max_fee, priority_fee)
    values (${Buffer.alloc(32, 0xcc)}, ${userId(9)}, '', 1, 1)`.execute(ctx.db);
  for (const [n, user] of [SHY, OPEN].entries())
    await sql`
      insert into participations (id, partner_id, user_id, offer_id, offer_option_id, status, amount, asset_id, asset_code,
        asset_name, asset_digits, chain, wallet_address, fund_address, token_address, approval_hash, prepared_at, commit_id,
        commit_row, inserted_at, updated_at)
      values (${userId(20 + n)}, ${partnerOf('partner-one')}, ${user}, ${sale}, ${offer.options[0]?.id}, 'completed',
        ${n === 0 ? '1500000' : '250000'}, 'usd-coin', 'USDC', 'USD Coin', 6, 'ethereum_sepolia', ${signer}, ${signer},
        ${signer}, ${Buffer.alloc(32, 0xa0 + n)}, now(), ${userId(9)}, ${n}, now(), now())`.execute(ctx.db);
});
afterAll(() => app.close());

const get = async (path: string, token: string) => {
  const reply = await app.app.inject({ url: path, headers: { authorization: `Bearer ${token}` } });
  return { status: reply.statusCode, body: reply.json() };
};

const TRANSACTIONS = {
  approval_hash: `0x${'a0'.repeat(32)}`,
  commit_hash: `0x${'cc'.repeat(32)}`,
  remit_hash: null,
  explorer_urls: {
    approval: `https://sepolia.etherscan.io/tx/0x${'a0'.repeat(32)}`,
    commit: `https://sepolia.etherscan.io/tx/0x${'cc'.repeat(32)}`,
    remit: null,
  },
};

describe('participations', () => {
  test('have exactly the fields of the contract without include', async () => {
    for (const path of [
      '/v1/participations',
      `/v1/participations/${userId(20)}`,
      '/v1/participations?include=',
    ]) {
      const { body } = await get(path, tokens.partner);
      for (const one of body.data ?? [body]) {
        expect(one).not.toHaveProperty('transactions');
        expect(one).not.toHaveProperty('user');
      }
    }
  });

  test('include their transactions', async () => {
    const path = `/v1/participations/${userId(20)}?include=transactions`;
    expect((await get(path, tokens.shy)).body.transactions).toEqual(TRANSACTIONS);
    const { body } = await get('/v1/participations?include=transactions', tokens.partner);
    const approvals = body.data.map(
      (one: { transactions: { approval_hash: string } }) => one.transactions.approval_hash,
    );
    expect(approvals.sort()).toEqual([`0x${'a0'.repeat(32)}`, `0x${'a1'.repeat(32)}`]);
  });

  test('include the user for partners, with the address only if the user granted email', async () => {
    const { body } = await get('/v1/participations?include=user,transactions', tokens.partner);
    const users = new Map(body.data.map((one: { id: string; user: unknown }) => [one.id, one.user]));
    expect(users.get(userId(20))).toEqual({ id: SHY, email: null });
    expect(users.get(userId(21))).toEqual({ id: OPEN, email: 'open@user.test' });
    expect(
      (await get(`/v1/participations/${userId(21)}?include=user&include=transactions`, tokens.partner)).body,
    ).toMatchObject({ user: { id: OPEN }, transactions: { remit_hash: null } });
  });

  test.each(['include=user', 'include=nonsense', 'include=transactions,nonsense'])(
    'refuse %s with a user token',
    async (query) => {
      for (const path of ['/v1/participations', `/v1/participations/${userId(20)}`]) {
        const { status, body } = await get(`${path}?${query}`, tokens.shy);
        expect([status, body.code, Object.keys(body.errors)]).toEqual([
          422,
          'validation_failed',
          ['include'],
        ]);
      }
    },
  );

  const find = async (email: string, op = '==') =>
    (
      await get(
        `/v1/participations?filters[0][field]=user_email&filters[0][op]=${encodeURIComponent(op)}&filters[0][value]=${email}`,
        tokens.partner,
      )
    ).body.data.map(({ id }: { id: string }) => id);

  test('show no address once the partner loses email, until the user consents again', async () => {
    const all = Object.keys(SCOPES);
    const shown = async () =>
      (await get(`/v1/participations/${userId(21)}?include=user`, tokens.partner)).body.user.email;
    for (const scopes of [all.filter((scope) => scope !== 'email'), all]) {
      await setScopes(app.ctx, 'partner-one', scopes);
      expect(await shown()).toBeNull();
      expect(await find('open@user.test')).toEqual([]);
      expect(await find('shy@user.test,open@user.test', 'in')).toEqual([]);
      expect(await find('open@user.test', '!=')).toContain(userId(21));
    }
    await app.tokenFor({ userId: OPEN, scopes: new Set(['email']) });
    expect(await shown()).toBe('open@user.test');
    expect(await find('open@user.test')).toEqual([userId(21)]);
  });

  test('are found by email only if the user granted it, until the grant ends', async () => {
    expect(await find('shy@user.test')).toEqual([]);
    expect(await find('OPEN@user.test')).toEqual([userId(21)]);
    expect(await find('shy@user.test,open@user.test', 'in')).toEqual([userId(21)]);
    await sql`update oauth_grants set expires_at = now() where user_id = ${OPEN}`.execute(app.ctx.db);
    expect(await find('open@user.test')).toEqual([]);
  });
});

describe('offers', () => {
  test('have exactly the fields of the contract without include', async () => {
    for (const path of ['/v1/offers', `/v1/offers/${sale}`]) {
      const { body } = await get(path, tokens.partner);
      for (const one of body.data ?? [body]) expect(one).not.toHaveProperty('summary');
    }
  });

  test('include a summary', async () => {
    const { body } = await get('/v1/offers?include=summary', tokens.partner);
    const summaries = Object.fromEntries(
      body.data.map((one: { slug: string; summary: unknown }) => [one.slug, one.summary]),
    );
    expect(summaries['harbour-sale']).toEqual({
      name: 'Harbour',
      asset: { id: 'harbour', code: 'HBR', name: 'Harbour', fractional_digits: 18 },
      chains: ['ethereum_sepolia'],
      state: 'open',
      price_usd: '1.25',
      raised_usd: '1.75',
      target_usd: '1500.625',
      fee_bps: null,
    });
    expect(summaries['harbour-stock']).toMatchObject({
      raised_usd: null,
      target_usd: null,
      fee_bps: 50,
      state: 'open',
    });
    const details = await get(`/v1/offers/${sale}?include=summary`, tokens.partner);
    expect(details.body).toMatchObject({ object: 'offer_details', summary: summaries['harbour-sale'] });
  });

  test('refuse an unknown include', async () => {
    for (const path of ['/v1/offers', `/v1/offers/${sale}`])
      expect((await get(`${path}?include=everything`, tokens.partner)).body.errors).toHaveProperty('include');
  });
});
