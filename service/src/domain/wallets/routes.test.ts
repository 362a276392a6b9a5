import { sql } from 'kysely';
import { createSiweMessage, parseSiweMessage } from 'viem/siwe';
import { getAddress } from 'viem/utils';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { START, type TestApp, testApp } from '../../../test/support/app.ts';
import { expectAudited } from '../../../test/support/audited.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { USER } from '../../../test/support/tokens.ts';
import { evmWallet, type Person, person, solanaWallet, userId } from '../../../test/support/wallets.ts';
import { runHousekeeping } from '../../edges/housekeeping.ts';
import { applyOffers } from '../offer-files/apply.ts';
import { closeOffer, reopenOffer } from '../offer-files/lifecycle.ts';
import type { toOffer } from '../offers/offer.ts';
import { setRedirects } from '../partners/partner.ts';

let app: TestApp;
let user: Person;
let other: Person;
let offer: ReturnType<typeof toOffer>;
let plain: string;
let listed: string;

beforeAll(async () => {
  app = await testApp({ config: { limits: { ...(await limits()), wallet_ownership: 1_000_000 } } });
  user = await person(app, { origins: new Set(['https://app.partner.test']) });
  other = await person(app, { userId: userId(1) });
  offer = await makeOffer(
    app.ctx,
    saleFile({
      options: [
        { slug: 'plain' },
        { slug: 'listed', requirements: [{ type: 'whitelisted_wallet', details: { max_wallets: 3 } }] },
      ] as never,
    }),
  );
  plain = offer.options[0]?.id ?? '';
  listed = offer.options[1]?.id ?? '';
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.ctx.db.deleteFrom('option_addresses').execute();
  await app.ctx.db.deleteFrom('wallet_proofs').execute();
  await app.ctx.db.deleteFrom('wallet_challenges').execute();
});

async function limits() {
  const { testConfig } = await import('../../../test/support/app.ts');
  return testConfig().limits;
}

const wallet = evmWallet('first');
const second = evmWallet('second');

const codeOf = (message: string) => /for account (\w{8})\./.exec(message)?.[1] ?? '';

describe('wallet challenges', () => {
  test('a plain message has the partner, wallet, chain, nonce, issue and expiry', async () => {
    const { status, body } = await user.call('POST', '/v1/wallet-ownership', {
      wallet_address: wallet.address.toUpperCase().replace('0X', '0x'),
      chain: 'base_mainnet',
    });
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['expires_at', 'message', 'object']);
    expect(body).toMatchObject({
      object: 'wallet_ownership_challenge',
      expires_at: '2026-03-02T12:10:00.000000Z',
    });
    expect(body.message).toMatch(
      new RegExp(
        [
          '^Partner partner-one asks you to prove that you own this wallet for account [0-9A-HJKMNP-TV-Z]{8}\\.\n\n',
          'Signing this text costs nothing and sends no transaction\\.\n\n',
          'Partner: Partner partner-one\n',
          `Wallet: ${getAddress(wallet.address)}\n`,
          'Chain: base_mainnet \\(8453\\)\n',
          'Nonce: [0-9a-z]{25}\n',
          'Issued At: 2026-03-02T12:00:00\\.000Z\n',
          'Expires At: 2026-03-02T12:10:00\\.000Z$',
        ].join(''),
      ),
    );
  });

  const siwe = {
    challenge_type: 'siwe',
    domain: 'app.partner.test',
    uri: 'https://app.partner.test/wallets?a=b',
    statement: "Prove that it's yours, please.",
  };

  test('a siwe message equals the one of viem for the same fields', async () => {
    const message = await user.challenge(wallet, siwe);
    const { nonce = '' } = parseSiweMessage(message);
    const code = codeOf(message);
    expect(nonce).toMatch(/^[0-9a-z]{25}$/);
    expect(message).toBe(
      createSiweMessage({
        address: getAddress(wallet.address),
        chainId: 11_155_111,
        domain: siwe.domain,
        uri: siwe.uri,
        statement: `Partner partner-one asks you to prove that you own this wallet for account ${code}. ${siwe.statement}`,
        version: '1',
        nonce,
        issuedAt: new Date(START),
        expirationTime: new Date(START + 600_000),
      }),
    );
  });

  test('a siwe message needs no statement and accepts https and custom-scheme redirects', async () => {
    const redirects = ['https://login.partner.test/callback', 'acme.app://signed-in'];
    const fresh = await person(app, { clientId: 'mobile', partnerId: userId(90), origins: new Set() });
    await setRedirects(app.ctx, 'mobile', redirects);
    const fields = { challenge_type: 'siwe', domain: 'login.partner.test', uri: 'acme.app://signed-in' };
    await expect.poll(async () => (await app.ctx.guard.client('mobile'))?.redirect_uris).toEqual(redirects);
    const message = await fresh.challenge(wallet, fields);
    expect(parseSiweMessage(message)).toMatchObject({
      domain: 'login.partner.test',
      uri: 'acme.app://signed-in',
      statement: `Partner mobile asks you to prove that you own this wallet for account ${codeOf(message)}.`,
    });
    expect(await fresh.challenge(wallet, { ...fields, uri: 'https://login.partner.test/x' })).toContain(
      'URI: https://login.partner.test/x',
    );
  });

  test('the account code is the same in every challenge of a user and differs between users', async () => {
    const other = await person(app, { userId: userId(77) });
    const codes = [
      codeOf(await user.challenge(wallet)),
      codeOf(await user.challenge(wallet, siwe)),
      codeOf(await other.challenge(wallet)),
    ];
    expect(codes[0]).toBe(codes[1]);
    expect(codes[0]).not.toBe(codes[2]);
  });

  test('a Solana message follows Sign-In-With-Solana for the requesting page', async () => {
    const sol = solanaWallet('first');
    const { body } = await user.call(
      'POST',
      '/v1/wallet-ownership',
      { wallet_address: sol.address, chain: sol.chain },
      { origin: 'https://app.partner.test' },
    );
    expect(String(body.message).replace(/Nonce: \w+/, 'Nonce: N')).toBe(
      [
        'app.partner.test wants you to sign in with your Solana account:',
        sol.address,
        '',
        `Partner partner-one asks you to prove that you own this wallet for account ${codeOf(String(body.message))}.`,
        '',
        'URI: https://app.partner.test',
        'Version: 1',
        'Chain ID: devnet',
        'Nonce: N',
        'Issued At: 2026-03-02T12:00:00.000Z',
        'Expiration Time: 2026-03-02T12:10:00.000Z',
      ].join('\n'),
    );
  });

  test.each([
    ['domain', 'evil.com\nURI: x'],
    ['domain', 'user@evil.com'],
    ['domain', 'https://app.example.com'],
    ['domain', 'app.example.com/path'],
    ['domain', ''],
    ['uri', 'https://a.example/\nVersion: 2'],
    ['uri', 'https://a.example/ Version'],
    ['uri', '/relative'],
    ['statement', 'one\ntwo'],
    ['statement', 'one\rtwo'],
    ['statement', 'one\u2028two'],
    ['statement', ''],
    ['statement', 'a'.repeat(257)],
    ['domain', undefined],
    ['uri', undefined],
    ['domain', 'evil.example'],
    ['domain', 'app.partner.test:8443'],
    ['uri', 'https://evil.example/'],
    ['uri', 'https://app.partner.test@evil.example/'],
    ['uri', 'http://app.partner.test/'],
    ['uri', 'https://user@app.partner.test/'],
    ['uri', 'acme://unregistered'],
  ])('a siwe message rejects line injection and foreign pages: %s %j', async (field, value) => {
    const { status, body } = await user.call('POST', '/v1/wallet-ownership', {
      ...{ wallet_address: wallet.address, chain: wallet.chain },
      ...{ ...siwe, [field]: value },
    });
    expect([status, body.code, Object.keys(body.errors as object)]).toEqual([
      422,
      'validation_failed',
      [field],
    ]);
  });

  test.each([
    [{ challenge_type: 'plain', domain: 'a.example' }, 'domain'],
    [{ statement: 'x' }, 'statement'],
    [{ challenge_type: 'other' }, 'challenge_type'],
    [{ wallet_address: '0x12' }, 'wallet_address'],
    [{ wallet_address: solanaWallet('first').address }, 'wallet_address'],
    [{ chain: 'solana_devnet' }, 'wallet_address'],
    [{ chain: 'solana_devnet', wallet_address: solanaWallet('first').address.slice(3) }, 'wallet_address'],
    [{ chain: 'solana_devnet', wallet_address: solanaWallet('first').address, ...siwe }, 'challenge_type'],
    [{ chain: 'bitcoin' }, 'chain'],
    [{ more: 1 }, 'more'],
  ])('reject %j', async (change, field) => {
    const { status, body } = await user.call('POST', '/v1/wallet-ownership', {
      ...{ wallet_address: wallet.address, chain: wallet.chain },
      ...change,
    });
    expect([status, body.code, Object.keys(body.errors as object)]).toEqual([
      422,
      'validation_failed',
      [field],
    ]);
  });

  test('accept forms like JSON', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const encode = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
    const fields = { wallet_address: wallet.address, chain: wallet.chain };
    const { body } = await user.call('POST', '/v1/wallet-ownership', encode(fields) as never, form);
    const bound = await user.call(
      'POST',
      `/v1/offers/${offer.id}/addresses`,
      encode({
        ...fields,
        offer_option_id: plain,
        signature: String(await wallet.sign(String(body.message))),
      }) as never,
      form,
    );
    expect(bound.status).toBe(200);
  });

  test('reject a form field called __proto__ like any unknown field', async () => {
    const { status, body } = await user.call('POST', '/v1/wallet-ownership', '__proto__=1' as never, {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect([status, body.code]).toEqual([422, 'validation_failed']);
  });

  test('are deleted after they expire', async () => {
    await user.challenge(wallet);
    await runHousekeeping(app.ctx);
    const count = () => app.ctx.db.selectFrom('wallet_challenges').select('id').execute();
    expect(await count()).toHaveLength(1);
    app.clock.advance(601);
    await runHousekeeping(app.ctx);
    expect(await count()).toHaveLength(0);
  });
});

describe('wallet proofs', () => {
  const refused = [422, 'challenge_invalid'];
  const outcome = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

  test('a challenge can be used once, and every refusal looks the same', async () => {
    const signature = await wallet.sign(await user.challenge(wallet));
    expect((await user.connect(offer.id, plain, wallet, signature)).status).toBe(200);
    expect(outcome(await user.connect(offer.id, plain, wallet, signature))).toEqual(refused);
    expect(outcome(await user.connect(offer.id, plain, second, await second.sign('anything')))).toEqual(
      refused,
    );
  });

  test('a wrong signature consumes the challenge', async () => {
    const message = await user.challenge(wallet);
    expect(outcome(await user.connect(offer.id, plain, wallet, await second.sign(message)))).toEqual(refused);
    expect(outcome(await user.connect(offer.id, plain, wallet, await wallet.sign(message)))).toEqual(refused);
  });

  test('a challenge expires after exactly ten minutes', async () => {
    const signature = await wallet.sign(await user.challenge(wallet));
    app.clock.advance(600);
    expect(outcome(await user.connect(offer.id, plain, wallet, signature))).toEqual(refused);
    const again = await wallet.sign(await user.challenge(wallet));
    app.clock.advance(599.999);
    expect((await user.connect(offer.id, plain, wallet, again)).status).toBe(200);
  });

  test('a new challenge replaces the previous one', async () => {
    const older = await wallet.sign(await user.challenge(wallet));
    const newer = await wallet.sign(await user.challenge(wallet));
    expect(outcome(await user.connect(offer.id, plain, wallet, older))).toEqual(refused);
    const newest = await wallet.sign(await user.challenge(wallet));
    expect(newest).not.toBe(newer);
    expect((await user.connect(offer.id, plain, wallet, newest)).status).toBe(200);
  });

  test('a challenge belongs to one user, client, chain and wallet', async () => {
    const sameUserElsewhere = await person(app, { clientId: 'partner-two' });
    const theirs = await makeOffer(
      app.ctx,
      saleFile({ slug: 'shared', partners: ['partner-one', 'partner-two'] }),
    );
    const option = theirs.options[0]?.id ?? '';
    const signature = await wallet.sign(await user.challenge(wallet));
    expect(outcome(await other.connect(theirs.id, option, wallet, signature))).toEqual(refused);
    expect(outcome(await sameUserElsewhere.connect(theirs.id, option, wallet, signature))).toEqual(refused);
    const elsewhere = { ...wallet, chain: 'base_sepolia' };
    expect(outcome(await user.connect(theirs.id, option, elsewhere, signature))).toEqual(refused);
    expect(outcome(await user.connect(theirs.id, option, second, signature))).toEqual(refused);
    expect((await user.connect(theirs.id, option, wallet, signature)).status).toBe(200);
  });

  test('a refused bind does not release the challenge', async () => {
    for (const name of ['a', 'b', 'c']) await user.bind(offer.id, listed, evmWallet(`taken ${name}`));
    const signature = await wallet.sign(await user.challenge(wallet));
    expect(outcome(await user.connect(offer.id, listed, wallet, signature))).toEqual([
      409,
      'max_wallets_reached',
    ]);
    expect(outcome(await user.connect(offer.id, listed, wallet, signature))).toEqual(refused);
  });

  test('an idempotent replay returns the stored binding', async () => {
    const signature = await wallet.sign(await user.challenge(wallet));
    const body = { chain: wallet.chain, wallet_address: wallet.address, offer_option_id: plain, signature };
    const key = { 'idempotency-key': 'bind-1' };
    const first = await user.call('POST', `/v1/offers/${offer.id}/addresses`, body, key);
    expect(first.status).toBe(200);
    expect(await user.call('POST', `/v1/offers/${offer.id}/addresses`, body, key)).toEqual(first);
  });

  test('signatures and messages never reach the log', async () => {
    const message = await user.challenge(wallet);
    const signature = String(await wallet.sign(message));
    await user.connect(offer.id, plain, wallet, signature);
    expect(app.logged()).not.toContain(signature);
    expect(app.logged()).not.toContain(/Nonce: (\w+)/.exec(message)?.[1]);
  });
});

describe('bindings', () => {
  test('write one event when a wallet is bound and one when it is removed, none for a repetition', async () => {
    await app.ctx.db.deleteFrom('events').execute();
    await user.bind(offer.id, plain, wallet);
    const { body } = await user.bind(offer.id, plain, wallet);
    await user.call('DELETE', `/v1/offers/${offer.id}/addresses/${body.id}`);
    await user.call('DELETE', `/v1/offers/${offer.id}/addresses/${body.id}`);
    const events = await app.ctx.db.selectFrom('events').selectAll().orderBy('written').execute();
    expect(events.map(({ type }) => type)).toEqual(['wallet.bound', 'wallet.unbound']);
    for (const { data, request_id, user_id } of events) {
      expect(data).toEqual({
        ...{ object: 'option_address', id: body.id, offer_id: offer.id, offer_option_id: plain },
        protocol: 'ethereum',
      });
      expect([typeof request_id, typeof user_id]).toEqual(['string', 'string']);
    }
  });

  test('have exactly the specified fields, with EVM addresses in lower case', async () => {
    const mixed = { ...wallet, address: getAddress(wallet.address) };
    const { status, body } = await user.bind(offer.id, plain, mixed);
    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'option_address',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      address: wallet.address,
      offer_option_id: plain,
      protocol: 'ethereum',
      created_at: expect.stringMatching(/^2026-03-02T12:\d\d:\d\d\.\d{6}Z$/),
    });
  });

  test('are replaced in place without a whitelisted_wallet requirement, one per protocol', async () => {
    const first = await user.bind(offer.id, plain, wallet);
    const sol = await user.bind(offer.id, plain, solanaWallet('first'));
    app.clock.advance(60);
    const replaced = await user.bind(offer.id, plain, { ...second, chain: 'base_sepolia' });
    expect(replaced.body).toEqual({ ...first.body, address: second.address });
    expect(sol.body.protocol).toBe('solana');
    const list = await user.call('GET', `/v1/offers/${offer.id}/addresses?offer_option_id=${plain}`);
    expect(list.body).toEqual({ object: 'list', data: [sol.body, replaced.body] });
    // The replaced address is free again.
    expect((await other.bind(offer.id, plain, wallet)).status).toBe(200);
  });

  test('keep to a limit that was lowered while the request was in flight', async () => {
    const limited = (max_wallets: number) =>
      saleFile({
        slug: 'lowered-limit',
        options: [
          { slug: 'listed', requirements: [{ type: 'whitelisted_wallet', details: { max_wallets } }] },
        ] as never,
      });
    const { id, options } = await makeOffer(app.ctx, limited(2));
    const optionId = options[0]?.id ?? '';
    expect((await user.bind(id, optionId, wallet)).status).toBe(200);
    const { db } = app.ctx;
    const holding = await db.startTransaction().execute();
    await sql`select from users where id = ${USER} for update`.execute(holding);
    // The offer is not locked yet, because the request waits for its user first.
    const signature = await second.sign(await user.challenge(second));
    const reply = user.connect(id, optionId, second, signature);
    const isWaiting = async () =>
      (await sql`select from pg_locks where not granted`.execute(db)).rows.length > 0;
    await expect.poll(isWaiting).toBe(true);
    await applyOffers(app.ctx, [limited(1)]);
    await holding.rollback().execute();
    expect((await reply).body.code).toBe('max_wallets_reached');
  });

  test('accumulate up to max_wallets with the requirement, counting each wallet once', async () => {
    const wallets = [wallet, second, solanaWallet('first')];
    const bound = [];
    for (const each of wallets) bound.push(await user.bind(offer.id, listed, each));
    expect(bound.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await user.bind(offer.id, listed, wallet)).body).toEqual(bound[0]?.body);
    const fourth = await user.bind(offer.id, listed, evmWallet('fourth'));
    expect([fourth.status, fourth.body.code]).toEqual([409, 'max_wallets_reached']);
    expect((await other.bind(offer.id, listed, evmWallet('fourth'))).status).toBe(200);
  });

  test('give an address to one user per option, on whichever EVM chain it was proven', async () => {
    await user.bind(offer.id, listed, wallet);
    expect((await other.bind(offer.id, listed, { ...wallet, chain: 'base_mainnet' })).status).toBe(200);
    const rows = await app.ctx.db.selectFrom('option_addresses').select(['option_id', 'user_id']).execute();
    expect(rows).toEqual([{ option_id: listed, user_id: userId(1) }]);
  });

  test('are listed newest first for all options or one, and only to their user', async () => {
    const bound = [];
    for (const [option, each] of [
      [listed, wallet],
      [plain, wallet],
      [listed, second],
    ] as const)
      bound.unshift((await user.bind(offer.id, option, each)).body);
    const url = `/v1/offers/${offer.slug}/addresses`;
    expect((await user.call('GET', url)).body.data).toEqual(bound);
    const one = await user.call('GET', `${url}?limit=2`);
    const rest = await user.call('GET', `${url}?limit=2&starting_after=${one.body.starting_after}`);
    expect([...(one.body.data as object[]), ...(rest.body.data as object[])]).toEqual(bound);
    const filtered = await user.call('GET', `${url}?offer_option_id=${listed}`);
    expect(filtered.body.data).toEqual([bound[0], bound[2]]);
    expect((await other.call('GET', url)).body).toEqual({ object: 'list', data: [] });
    const wrong = await user.call('GET', `${url}?offer_option_id=nope`);
    expect([wrong.status, wrong.body.code]).toEqual([404, 'not_found']);
  });

  test('can only be deleted by their user, and are returned then', async () => {
    const { body } = await user.bind(offer.id, plain, wallet);
    const url = `/v1/offers/${offer.id}/addresses/${body.id}`;
    for (const [who, path] of [
      [other, url],
      [user, `/v1/offers/${offer.id}/addresses/nope`],
      [user, `/v1/offers/${offer.id}/addresses/${userId(5)}`],
      [user, `/v1/offers/nope/addresses/${body.id}`],
    ] as const)
      expect(await who.call('DELETE', path)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await user.call('DELETE', url)).toEqual({ status: 200, body });
    await expectAudited(app.ctx, 'option_address.insert', 'option_address.deleted');
    expect((await user.call('DELETE', url)).status).toBe(404);
    expect((await other.bind(offer.id, plain, wallet)).status).toBe(200);
  });

  test('return 404 for unknown offers and options without consuming the challenge', async () => {
    const signature = await wallet.sign(await user.challenge(wallet));
    for (const [offerId, option] of [
      ['nope', plain],
      [offer.id, 'nope'],
      [offer.id, userId(9)],
    ] as const)
      expect(await user.connect(offerId, option, wallet, signature)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    expect((await user.connect(offer.id, plain, wallet, signature)).status).toBe(200);
  });

  test('can change before the offer starts, but not after it has ended', async () => {
    const window = { starts_at: '2026-03-03T00:00:00Z', ends_at: '2026-03-04T00:00:00Z' };
    const upcoming = await makeOffer(app.ctx, saleFile({ slug: 'upcoming', ...window }));
    const option = upcoming.options[0]?.id ?? '';
    const { body } = await user.bind(upcoming.id, option, wallet);
    expect((await user.call('DELETE', `/v1/offers/${upcoming.id}/addresses/${body.id}`)).status).toBe(200);
    const again = await user.bind(upcoming.id, option, wallet);
    app.clock.set(Date.parse(window.ends_at));
    const ended = { status: 409, body: { code: 'offer_ended' } };
    for (const id of [again.body.id, 'unknown'])
      expect(await user.call('DELETE', `/v1/offers/${upcoming.id}/addresses/${id}`)).toMatchObject(ended);
    expect(await user.bind(upcoming.id, option, second)).toMatchObject(ended);
  });

  test('cannot change after the offer was closed early', async () => {
    const closing = await makeOffer(app.ctx, saleFile({ slug: 'closing' }));
    const option = closing.options[0]?.id ?? '';
    const { body } = await user.bind(closing.id, option, wallet);
    await closeOffer(app.ctx, 'closing', 'sold');
    app.clock.advance(1);
    const ended = { status: 409, body: { code: 'offer_ended' } };
    expect(await user.call('DELETE', `/v1/offers/${closing.id}/addresses/${body.id}`)).toMatchObject(ended);
    expect(await user.bind(closing.id, option, second)).toMatchObject(ended);
    await reopenOffer(app.ctx, 'closing', 'mistake');
    await expect
      .poll(async () => (await user.call('DELETE', `/v1/offers/${closing.id}/addresses/${body.id}`)).status)
      .toBe(200);
    expect((await user.bind(closing.id, option, second)).status).toBe(200);
  });

  test('wait for a concurrent close of the offer and are refused', async () => {
    const meeting = await makeOffer(app.ctx, saleFile({ slug: 'meeting' }));
    const option = meeting.options[0]?.id ?? '';
    const { body } = await user.bind(meeting.id, option, wallet);
    const closed_at = new Date(app.clock.now()).toISOString();
    const closing = await app.ctx.db.startTransaction().execute();
    await closing.updateTable('offers').set({ closed_at }).where('id', '=', meeting.id).execute();
    const pending = [
      user.bind(meeting.id, option, second),
      user.call('DELETE', `/v1/offers/${meeting.id}/addresses/${body.id}`),
    ];
    const waiting = sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await waiting.execute(app.ctx.db)).rows[0]?.n).toBe(2);
    await closing.commit().execute();
    for (const answer of await Promise.all(pending))
      expect(answer).toMatchObject({ status: 409, body: { code: 'offer_ended' } });
    const rows = await app.ctx.db.selectFrom('option_addresses').select('address').execute();
    expect(rows).toEqual([{ address: wallet.address }]);
  });
});
