import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { partnerOf, USER } from '../../../test/support/tokens.ts';
import { evmWallet, type Person, person, userId } from '../../../test/support/wallets.ts';
import type { Offer } from '../../platform/context/ports.ts';
import { takeMailToSend } from '../../platform/mail/outbox.ts';
import { eraseUser } from '../erasure/erasure.ts';

let app: TestApp;
let user: Person;
let other: Person;
let offer: Offer;
let plain: string;
let listed: string;
let count = 0;

beforeAll(async () => {
  app = await testApp();
  user = await person(app);
  other = await person(app, { userId: userId(1) });
  const requirements = [{ type: 'whitelisted_wallet', details: { max_wallets: 1 } }];
  offer = await makeOffer(
    app.ctx,
    saleFile({ options: [{ slug: 'plain' }, { slug: 'listed', requirements }] as never }),
  );
  plain = offer.options[0]?.id ?? '';
  listed = offer.options[1]?.id ?? '';
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.ctx.db.deleteFrom('option_addresses').execute();
});

const fresh = () => evmWallet(`proof ${count++}`);
const proofsOf = (address: string) =>
  app.ctx.db
    .selectFrom('wallet_proofs')
    .select(['user_id', 'chain', 'kind'])
    .where('address', '=', address)
    .execute();

/** Stores a participation of `USER`, as another part of the service would. */
async function insertParticipation(wallet: string, status: 'prepared' | 'pending' | 'submitted') {
  const id = `01890000-0000-7000-8000-${String(++count).padStart(12, '0')}`;
  const now = '2026-03-02T12:00:00Z';
  await app.ctx.db
    .insertInto('participations')
    .values({
      ...{
        id,
        partner_id: partnerOf('partner-one'),
        user_id: USER,
        offer_id: offer.id,
        offer_option_id: plain,
      },
      ...{
        status: status === 'submitted' ? 'pending' : status,
        reason: null,
        amount: '1',
        asset_id: 'usd-coin',
      },
      ...{ asset_code: 'USDC', asset_name: 'USD Coin', asset_digits: 6, chain: 'ethereum_sepolia' },
      ...{
        wallet_address: wallet,
        fund_address: `0x${'f1'.repeat(20)}`,
        token_address: `0x${'c0'.repeat(20)}`,
      },
      ...{ approval_hash: Buffer.alloc(32, count), price_usd: null },
      ...{ prepared_at: now, inserted_at: now, updated_at: now },
    })
    .execute();
  return id;
}

describe('a verified signature', () => {
  test('proves the wallet even if the binding is refused', async () => {
    await user.bind(offer.id, listed, fresh());
    const wallet = fresh();
    expect((await user.bind(offer.id, listed, wallet)).body.code).toBe('max_wallets_reached');
    expect(await proofsOf(wallet.address)).toEqual([{ user_id: USER, chain: '*', kind: 'key' }]);
  });

  test('that is wrong proves nothing', async () => {
    const wallet = fresh();
    await user.challenge(wallet);
    await user.connect(offer.id, plain, wallet, fresh().sign('other text') as string);
    expect(await proofsOf(wallet.address)).toEqual([]);
  });

  test('proves the wallet with one partner only', async () => {
    const shared = await makeOffer(
      app.ctx,
      saleFile({ slug: `shared-${count++}`, partners: ['partner-one', 'partner-two'] }),
    );
    const wallet = fresh();
    const elsewhere = await person(app, { clientId: 'partner-two', userId: userId(5) });
    await user.bind(offer.id, plain, wallet);
    expect((await elsewhere.bind(shared.id, shared.options[0]?.id ?? '', wallet)).status).toBe(200);
    expect(await proofsOf(wallet.address)).toHaveLength(2);
  });
});

describe('a proof ends', () => {
  test('when the user removes the last binding of the wallet', async () => {
    const wallet = fresh();
    const ids = [];
    for (const option of [plain, listed])
      ids.push((await user.bind(offer.id, option, wallet)).body.id as string);
    await user.call('DELETE', `/v1/offers/${offer.id}/addresses/${ids[0]}`);
    expect(await proofsOf(wallet.address)).toHaveLength(1);
    await user.call('DELETE', `/v1/offers/${offer.id}/addresses/${ids[1]}`);
    expect(await proofsOf(wallet.address)).toEqual([]);
  });

  test('when another user proves the wallet: bindings end with an event and a mail', async () => {
    const wallet = fresh();
    const { body } = await user.bind(offer.id, plain, wallet);
    const prepared = await insertParticipation(wallet.address, 'prepared');
    expect((await other.bind(offer.id, listed, wallet)).status).toBe(200);
    expect(await proofsOf(wallet.address)).toEqual([{ user_id: userId(1), chain: '*', kind: 'key' }]);
    const { data } = (await user.call('GET', `/v1/offers/${offer.id}/addresses`)).body;
    expect(data).toEqual([]);
    const events = await app.ctx.db
      .selectFrom('events')
      .selectAll()
      .where('type', '=', 'wallet.unbound')
      .execute();
    expect(events.filter(({ data }) => data.id === body.id)).toMatchObject([
      {
        user_id: USER,
        data: {
          ...{ object: 'option_address', id: body.id, protocol: 'ethereum' },
          ...{ offer_id: offer.id, offer_option_id: plain },
        },
        related: { object: 'option_address', id: body.id, path: `/v1/offers/${offer.id}/addresses` },
      },
    ]);
    const mail = await takeMailToSend(app.ctx);
    expect(mail?.mail).toMatchObject({ to: `${USER}@user.test`, subject: expect.stringContaining('wallet') });
    const row = await app.ctx.db
      .selectFrom('participations')
      .select(['status', 'reason', 'holds_approval'])
      .where('id', '=', prepared)
      .executeTakeFirst();
    expect(row).toEqual({ status: 'failed', reason: 'wallet_not_proven', holds_approval: false });
    // The first user, who also has the key, can prove the wallet again.
    expect((await user.bind(offer.id, plain, wallet)).status).toBe(200);
  });

  test('but not while the user has money on the way from the wallet', async () => {
    const wallet = fresh();
    await user.bind(offer.id, plain, wallet);
    await insertParticipation(wallet.address, 'pending');
    const { status, body } = await other.bind(offer.id, plain, wallet);
    expect([status, body.code]).toEqual([409, 'wallet_already_bound']);
    expect(await proofsOf(wallet.address)).toMatchObject([{ user_id: USER }]);
    expect((await user.bind(offer.id, plain, wallet)).status).toBe(200);
  });

  test('when the account is erased, and a keyed hash of the wallet remains', async () => {
    const wallet = fresh();
    const erased = userId(20);
    const leaver = await person(app, { userId: erased });
    await leaver.bind(offer.id, plain, wallet);
    await eraseUser(app.ctx, erased, 'requested');
    expect(await proofsOf(wallet.address)).toEqual([]);
    const owners = await app.ctx.db
      .selectFrom('wallet_owners')
      .selectAll()
      .where('user_id', '=', erased)
      .execute();
    expect(owners).toHaveLength(1);
    expect(JSON.stringify(owners)).not.toContain(wallet.address.slice(2));
  });
});

describe('a wallet of a permanently rejected account', () => {
  test.each(['bound', 'removed', 'erased'] as const)(
    'cannot be proven by another account: %s',
    async (how) => {
      const wallet = fresh();
      const id = userId(30 + count++);
      const rejected = await person(app, { userId: id });
      const { body } = await rejected.bind(offer.id, plain, wallet);
      if (how === 'removed') await rejected.call('DELETE', `/v1/offers/${offer.id}/addresses/${body.id}`);
      await app.ctx.db
        .insertInto('identity_reviews')
        .values({
          ...{ user_id: id, level_name: 'BasicKYCLevel', review_status: 'completed', answer: 'RED' },
          ...{ reject_type: 'FINAL', reviewed_at: '2026-03-01T00:00:00Z', as_of: '2026-03-01T00:00:00Z' },
        } as never)
        .execute();
      if (how === 'erased') await eraseUser(app.ctx, id, 'requested');
      // A caller who cannot sign with the wallet does not learn that it is restricted.
      const wrong = await other.connect(
        offer.id,
        plain,
        wallet,
        fresh().sign(await other.challenge(wallet)) as string,
      );
      expect(wrong.body.code).toBe('challenge_invalid');
      const { status, body: refusal } = await other.bind(offer.id, plain, wallet);
      expect([status, refusal.code, refusal.errors]).toEqual([403, 'wallet_restricted', {}]);
      expect((await proofsOf(wallet.address)).map(({ user_id }) => user_id)).not.toContain(userId(1));
    },
  );
});
