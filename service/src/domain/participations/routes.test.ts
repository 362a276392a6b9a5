import { token } from '@causeway/contracts/abi/token.ts';
import { roles, testWallets } from '@causeway/sandbox/seed/keys.ts';
import { sql } from 'kysely';
import { type Hex, parseSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeOffer, saleFile, tokenizedFile } from '../../../test/support/offers.ts';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { useSale } from '../../../test/support/settlement.ts';
import { evmWallet, type Person, person, proveWallets, userId } from '../../../test/support/wallets.ts';
import { decideCommits, lockCommits } from '../eligibility/commit.ts';
import { applyOffers } from '../offer-files/apply.ts';

const sale = useSale();
let other: Person;
let partner: Person;

beforeAll(async () => {
  other = await person(sale.app, { userId: userId(7) });
  partner = await person(sale.app, { userId: null });
});

const post = (body: object, caller = sale.person) => caller.call('POST', '/v1/participations', body);
const list = async (query: string, caller = sale.person) =>
  (await caller.call('GET', `/v1/participations?${query}`)).body;
const idsOf = (body: Record<string, unknown>) => (body.data as { id: string }[]).map(({ id }) => id);
const filter = (field: string, op: string, value: string, i = 0) =>
  `filters[${i}][field]=${field}&filters[${i}][op]=${encodeURIComponent(op)}&filters[${i}][value]=${encodeURIComponent(value)}`;

describe('POST /v1/participations', () => {
  test('returns every field of the participation', async () => {
    const hash = await sale.buyer(0).approve(1_500_000n);
    const { status, body } = await post(sale.request(sale.buyer(0), 1_500_000n, hash));
    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'participation',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      offer_id: sale.offer.id,
      offer_option_id: sale.option,
      status: 'pending',
      amount: '1500000',
      amount_string: '1.5',
      asset: { id: 'usd-coin', code: 'USDC', name: 'USD Coin', fractional_digits: 6 },
      chain: 'ethereum_sepolia',
      wallet_address: sale.buyer(0).address,
      inserted_at: expect.stringMatching(/^2026-03-02T12:00:00\.\d{6}Z$/),
      updated_at: body.inserted_at,
    });
    expect((await sale.person.call('GET', `/v1/participations/${body.id}`)).body).toEqual(body);
  });

  test('returns the same participation for a repeated request, ignoring letter case', async () => {
    const hash = await sale.buyer(1).approve(2n * UNIT);
    const request = sale.request(sale.buyer(1), 2n * UNIT, hash);
    const first = await post(request);
    const again = await post({
      ...request,
      wallet_address: request.wallet_address?.toUpperCase().replace('0X', '0x'),
      approval_transaction_hash: hash.toUpperCase().replace('0X', '0x'),
    });
    expect(again).toEqual(first);
  });

  test('rejects an approval that another participation of the wallet has used', async () => {
    const hash = await sale.buyer(1).approve(5n * UNIT);
    await post(sale.request(sale.buyer(1), 2n * UNIT, hash));
    const more = sale.request(sale.buyer(1), 3n * UNIT, hash);
    expect((await post(more)).body.code).toBe('approval_already_used');
    const stranger = await post(sale.request(sale.buyer(1), 2n * UNIT, hash), other);
    expect([stranger.status, stranger.body.code]).toEqual([403, 'wallet_not_proven']);
    expect(stranger.body.errors).toMatchObject({
      checks: [{ object: 'check', code: 'wallet_proof', status: 'action_needed' }],
    });
  });

  test('leaves an approval to its owner when others name it', async () => {
    const hash = await sale.buyer(4).approve(7n * UNIT);
    const mine = evmWallet('mismatching');
    await proveWallets(sale.app.ctx, [mine.address], { userId: userId(7) });
    const mismatch = await post(sale.request(mine, 7n * UNIT, hash), other);
    expect([mismatch.status, mismatch.body.code]).toEqual([422, 'approval_invalid']);
    expect((await post(sale.request(sale.buyer(4), 7n * UNIT, hash), other)).body.code).toBe(
      'wallet_not_proven',
    );
    // This approval is not mined yet, so `other` can claim it too, but only for the wallet `mine`. The owner of the
    // approval can still use it.
    const unmined = `0x${'77'.repeat(32)}` as const;
    expect((await post(sale.request(mine, 7n * UNIT, unmined), other)).body.status).toBe('prepared');
    expect((await post(sale.request(sale.buyer(4), 7n * UNIT, unmined))).body.status).toBe('prepared');
    expect((await post(sale.request(sale.buyer(4), 7n * UNIT, hash))).status).toBe(200);
    await sale.app.ctx.db
      .updateTable('participations')
      .set({ status: 'failed', holds_approval: false })
      .where('approval_hash', '=', Buffer.alloc(32, 0x77))
      .execute();
  });

  test('creates one participation for a hundred concurrent requests with the same approval', async () => {
    const hash = await sale.buyer(2).approve(50n * UNIT);
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        i % 3 === 0
          ? post(sale.request(sale.buyer(2), 40n * UNIT, hash), other)
          : post(sale.request(sale.buyer(2), 50n * UNIT, hash)),
      ),
    );
    const good = replies.filter(({ status }) => status === 200);
    expect(new Set(good.map(({ body }) => body.id)).size).toBe(1);
    const refused = replies.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['wallet_not_proven']));
    const { rows } = await sql<{ n: bigint }>`
      select count(*) as n from participations where approval_hash = ${Buffer.from(hash.slice(2), 'hex')}`.execute(
      sale.app.ctx.db,
    );
    expect(rows[0]?.n).toBe(1n);
  });
});

describe('an approval', () => {
  const rejection = async (request: object) => {
    const { status, body } = await post(request);
    return { status, code: body.code, ...(body.errors as object) };
  };
  const invalid = (reason: string) => ({ status: 422, code: 'approval_invalid', reason });

  test('of another token is invalid', async () => {
    const hash = await sale.buyer(3).approve(9n * UNIT, { token: sale.usdt });
    expect(await rejection(sale.request(sale.buyer(3), 9n * UNIT, hash))).toEqual(invalid('token'));
  });

  test('for another spender is invalid', async () => {
    const hash = await sale.buyer(3).approve(9n * UNIT, { spender: roles.owner.address });
    expect(await rejection(sale.request(sale.buyer(3), 9n * UNIT, hash))).toEqual(invalid('spender'));
  });

  test('by another owner is invalid', async () => {
    const hash = await sale.buyer(4).approve(9n * UNIT);
    expect(await rejection(sale.request(sale.buyer(3), 9n * UNIT, hash))).toEqual(invalid('owner'));
  });

  test('of too small an amount is invalid', async () => {
    const hash = await sale.buyer(3).approve(9n * UNIT - 1n);
    expect(await rejection(sale.request(sale.buyer(3), 9n * UNIT, hash))).toEqual(invalid('amount'));
  });

  test('that reverted is invalid', async () => {
    await sale.buyer(3).approve(1n, { token: sale.usdt });
    const hash = await sale.buyer(3).approve(9n * UNIT, { token: sale.usdt });
    const request = { ...sale.request(sale.buyer(3), 9n * UNIT, hash), asset_id: 'tether' };
    expect(await rejection(request)).toEqual(invalid('reverted'));
  });

  test('that resets a Tether-like token to zero is invalid, and the next one is valid', async () => {
    const zero = await sale.buyer(3).approve(0n, { token: sale.usdt });
    const request = { ...sale.request(sale.buyer(3), 9n * UNIT, zero), asset_id: 'tether' };
    expect(await rejection(request)).toEqual(invalid('amount'));
    const good = await sale.buyer(3).approve(9n * UNIT, { token: sale.usdt });
    expect((await post({ ...request, approval_transaction_hash: good })).body.status).toBe('pending');
  });

  test('in a transaction without an approval event is invalid', async () => {
    const hash = await sale.chain.owner.sendTransaction({ to: roles.owner.address, value: 0n, gas: 21_000n });
    expect(await rejection(sale.request(sale.buyer(3), 9n * UNIT, hash))).toEqual(invalid('no_approval'));
  });

  test('that was reduced since fails with insufficient_allowance', async () => {
    const hash = await sale.buyer(4).approve(9n * UNIT);
    await sale.buyer(4).approve(3n * UNIT);
    expect(await rejection(sale.request(sale.buyer(4), 9n * UNIT, hash))).toEqual({
      ...{ status: 422, code: 'insufficient_allowance', required: '9000000', allowance: '3000000' },
      ...{ spender: sale.fund, token: sale.usdc },
    });
  });

  test('that another participation has spent fails with insufficient_allowance', async () => {
    const spent = await sale.buyer(5).approve(8n * UNIT);
    const { id } = await sale.participate(sale.buyer(5), 8n * UNIT);
    await saleWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(await rejection(sale.request(sale.buyer(5), 8n * UNIT, spent))).toMatchObject({
      ...{ code: 'insufficient_allowance', required: '8000000', allowance: '0' },
    });
  });

  test('of more than the balance fails with insufficient_balance', async () => {
    const tooMuch = 1_000_000_000n * UNIT;
    const hash = await sale.buyer(4).approve(tooMuch);
    expect((await rejection(sale.request(sale.buyer(4), tooMuch, hash))).code).toBe('insufficient_balance');
  });

  test('that is unmined or reorganised away leaves the participation prepared', async () => {
    const hash = await sale.buyer(4).approve(9n * UNIT);
    await sale.chain.chain.reorg({ depth: 1, transactions: 'drop' });
    expect((await post(sale.request(sale.buyer(4), 9n * UNIT, hash))).body.status).toBe('prepared');
    const unknown: Hex = `0x${'77'.repeat(32)}`;
    expect((await post(sale.request(sale.buyer(4), 9n * UNIT, unknown))).body.status).toBe('prepared');
  });

  test('by a permit that another account submits is valid', async () => {
    const key = testWallets[0]?.private_key as Hex;
    const account = privateKeyToAccount(key);
    const message = {
      owner: account.address,
      spender: sale.fund,
      value: 6n * UNIT,
      nonce: 0n,
      deadline: 2n ** 64n,
    };
    const signature = await account.signTypedData({
      domain: { name: 'USD Coin', version: '1', chainId: 11_155_111, verifyingContract: sale.usdc },
      types: {
        Permit: [
          'address owner',
          'address spender',
          'uint256 value',
          'uint256 nonce',
          'uint256 deadline',
        ].map((field) => ({ type: field.split(' ')[0] ?? '', name: field.split(' ')[1] ?? '' })),
      },
      primaryType: 'Permit',
      message,
    });
    const { r, s, v } = parseSignature(signature);
    const hash = await sale.chain.owner.writeContract({
      ...{ address: sale.usdc, abi: token.abi, functionName: 'permit', gas: 200_000n },
      args: [message.owner, message.spender, message.value, message.deadline, Number(v), r, s],
    });
    expect((await post(sale.request(sale.buyer(0), 6n * UNIT, hash))).body.status).toBe('pending');
  });

  test('of a token that only has the same name is invalid', async () => {
    const forgery = await sale.chain.create(token, [roles.owner.address, 'USD Coin', 'USDC', 6]);
    const hash = await sale.buyer(3).approve(9n * UNIT, { token: forgery });
    expect(await rejection(sale.request(sale.buyer(3), 9n * UNIT, hash))).toEqual(invalid('token'));
  });
});

describe('the order of checks', () => {
  const unused: Hex = `0x${'99'.repeat(32)}`;
  const validRequest = () => sale.request(sale.buyer(0), 200n * UNIT, unused);
  const postWith = async (change: object) => (await post({ ...validRequest(), ...change })).body;

  test('validates the fields first', async () => {
    expect(await postWith({ amount: '0', offer_id: 'nothing' })).toMatchObject({
      code: 'validation_failed',
      errors: { amount: ['must be greater than 0'] },
    });
    expect((await postWith({ wallet_address: '0x1' })).errors).toHaveProperty('wallet_address');
    expect((await postWith({ approval_transaction_hash: '0x1' })).errors).toHaveProperty(
      'approval_transaction_hash',
    );
    expect((await postWith({ amount: '01' })).errors).toHaveProperty('amount');
    expect((await postWith({ surplus: 'x' })).errors).toHaveProperty('surplus');
    expect((await postWith({ asset_id: 'harbour' })).errors).toHaveProperty('asset_id');
  });

  test('checks the offer, its dates and its type', async () => {
    expect((await postWith({ offer_id: 'nothing' })).code).toBe('not_found');
    await makeOffer(sale.app.ctx, saleFile({ slug: 'ended', ends_at: '2026-03-02T11:00:00Z' } as never));
    await makeOffer(sale.app.ctx, saleFile({ slug: 'upcoming', starts_at: '2026-03-03T11:00:00Z' } as never));
    const stock = await makeOffer(sale.app.ctx, tokenizedFile());
    expect((await postWith({ offer_id: 'ended' })).code).toBe('offer_ended');
    expect((await postWith({ offer_id: 'upcoming' })).code).toBe('offer_not_started');
    expect((await postWith({ offer_id: stock.id })).code).toBe('offer_type_mismatch');
  });

  test('checks the option, the chain and the asset', async () => {
    expect((await postWith({ offer_option_id: 'nothing' })).code).toBe('not_found');
    expect((await postWith({ chain: 'base_sepolia' })).code).toBe('chain_not_supported');
    expect(
      (
        await postWith({
          chain: 'solana_devnet',
          wallet_address: 'So11111111111111111111111111111111111111112',
        })
      ).code,
    ).toBe('chain_not_supported');
  });

  test('checks the minimum purchase and the minimum commit of the fund', async () => {
    const large = sale.offer.options[1]?.id;
    const low = await postWith({ offer_option_id: large, amount: '100499999' });
    expect(low.errors).toEqual({ amount: ['is below the minimum purchase of 100.50 USD'] });
    expect((await postWith({ offer_option_id: large, amount: '100500000' })).status).toBe('prepared');
    expect((await postWith({ amount: '999999' })).errors).toHaveProperty('amount');
  });

  /** Returns an offer file for the fund of `sale`, with one option. */
  const fileWith = (slug: string, requirements: object[]) => {
    const [contract] = saleFile().contracts;
    const funding_tokens = [{ asset: 'usd-coin', address: sale.usdc }];
    return saleFile({
      slug,
      contracts: [{ ...contract, address: sale.fund, funding_tokens }] as never,
      options: [{ slug: 'listed', requirements }] as never,
    });
  };

  test('requires the current text to be acknowledged, and keeps what was accepted when a new version applies', async () => {
    const text = (version: string) => ({
      ...{ document: 'risk-disclosure', version, sha256: version.repeat(64) },
    });
    const shown = { name: 'Risk disclosure', url: 'https://issuer.test/risks.pdf' };
    const fileOf = (version: string) =>
      fileWith('documented', [{ type: 'acknowledgement', details: { ...text(version), ...shown } }]);
    const documented = await makeOffer(sale.app.ctx, fileOf('1'));
    const option = documented.options[0]?.id ?? '';
    const requirement = documented.options[0]?.requirements[0]?.id ?? '';
    const path = `/v1/offers/${documented.id}/acknowledgements`;
    const acknowledge = (version: string) => sale.person.call('POST', path, text(version));
    const buyWith = async (hash: string) =>
      postWith({
        ...{ offer_id: documented.id, offer_option_id: option, approval_transaction_hash: hash },
        ...{ wallet_address: sale.buyer(3).address, amount: String(3n * UNIT) },
      });
    const hash = await sale.buyer(3).approve(3n * UNIT);
    const { code, errors } = await buyWith(hash);
    expect([code, errors]).toMatchObject([
      'requirements_not_met',
      {
        [requirement]: ['not_started'],
        checks: [{ code: 'acknowledgement', next: { type: 'acknowledgement', path, body: text('1') } }],
      },
    ]);
    await acknowledge('1');
    expect((await buyWith(hash)).status).toBe('pending');
    await applyOffers(sale.app.ctx, [fileOf('2')]);
    expect((await buyWith(`0x${'97'.repeat(32)}`)).code).toBe('requirements_not_met');
    const row = await sale.app.ctx.db
      .selectFrom('participations')
      .selectAll()
      .where('offer_id', '=', documented.id)
      .executeTakeFirstOrThrow();
    const { id, user_id: userId, partner_id: partnerId, chain, wallet_address: user } = row;
    const accepted = { id, userId, partnerId, offerId: documented.id, optionId: option, chain, user };
    await expect.poll(async () => (await decideCommits(sale.app.ctx, [accepted]))[0]).toEqual({ to: 'send' });
    await sale.app.ctx.db.transaction().execute((tx) => lockCommits(sale.app.ctx, tx, [accepted]));
    await acknowledge('2');
    expect((await buyWith(`0x${'97'.repeat(32)}`)).status).toBe('prepared');
  });

  test('requires a bound wallet if the option has a wallet requirement', async () => {
    const requirements = [{ type: 'whitelisted_wallet', details: { max_wallets: 3 } }];
    const bound = await makeOffer(sale.app.ctx, fileWith('bound', requirements));
    const option = bound.options[0]?.id ?? '';
    const change = { offer_id: bound.id, offer_option_id: option };
    expect(await postWith(change)).toMatchObject({
      code: 'requirements_not_met',
      errors: { [bound.options[0]?.requirements[0]?.id ?? '']: ['not_started'] },
    });
    const refusal = sql`select 1 from audit_entries where entry like '%"eligibility.refused"%'`;
    await expect.poll(async () => (await refusal.execute(sale.app.ctx.db)).rows.length).toBeGreaterThan(0);
    await sale.person.bind(bound.id, option, evmWallet('another'));
    expect((await postWith(change)).errors).toMatchObject({
      wallet_address: ['is not bound to this option'],
      checks: [{ code: 'whitelisted_wallet', next: { type: 'bind_wallet' } }],
    });
    const { address } = evmWallet('another');
    const fresh = { wallet_address: address, approval_transaction_hash: `0x${'98'.repeat(32)}` };
    expect((await postWith({ ...change, ...fresh })).status).toBe('prepared');
  });

  test('reports an RPC outage and stores nothing', async () => {
    const hash = await sale.buyer(0).approve(200n * UNIT);
    sale.node.fault.set('down');
    const { status, body } = await post(sale.request(sale.buyer(0), 200n * UNIT, hash));
    sale.node.fault.set('none');
    expect([status, body.code]).toEqual([503, 'upstream_unavailable']);
    const { rows } =
      await sql`select from participations where approval_hash = ${Buffer.from(hash.slice(2), 'hex')}`.execute(
        sale.app.ctx.db,
      );
    expect(rows.length).toBe(0);
  });
});

describe('GET /v1/participations', () => {
  test('shows users their own participations and partners those of all their users', async () => {
    const hash = await sale.buyer(3).approve(6n * UNIT);
    await proveWallets(sale.app.ctx, [sale.buyer(3).address], { userId: userId(7) });
    const create = async () => (await post(sale.request(sale.buyer(3), 3n * UNIT, hash), other)).status;
    // The circuit breaker stays open for a while after the outage above.
    await expect.poll(create, { timeout: 5_000 }).toBe(200);
    const own = idsOf(await list('limit=100', other));
    const all = idsOf(await list('limit=100', partner));
    expect(own.length).toBeGreaterThan(0);
    expect(all).toEqual(expect.arrayContaining(own));
    expect(all.length).toBeGreaterThan(own.length);
    const stranger = await person(sale.app, { clientId: 'partner-two', userId: null });
    expect(idsOf(await list('', stranger))).toEqual([]);
    expect((await stranger.call('GET', `/v1/participations/${own[0]}`)).status).toBe(404);
    expect((await sale.person.call('GET', `/v1/participations/${own[0]}`)).status).toBe(404);
    expect((await sale.person.call('GET', '/v1/participations/nonsense')).status).toBe(404);
  });

  test('returns for every filter the rows that a full scan would find', async () => {
    const rows = await sale.app.ctx.db
      .selectFrom('participations as p')
      .innerJoin('users as u', 'u.id', 'p.user_id')
      .select(['p.id', 'p.offer_id', 'p.offer_option_id', 'p.user_id', 'p.status', 'u.email'])
      .orderBy('p.inserted_at', 'desc')
      .orderBy('p.id', 'desc')
      .execute();
    const values = {
      offer_id: [...new Set(rows.map((row) => row.offer_id)), userId(99)],
      offer_option_id: [...new Set(rows.map((row) => row.offer_option_id)), userId(99)],
      user_id: [...new Set(rows.map((row) => row.user_id)), userId(99)],
      status: ['prepared', 'pending', 'completed', 'remitted'],
      user_email: [...new Set(rows.map((row) => row.email)), 'nobody@user.test'],
    };
    const fields = Object.keys(values) as (keyof typeof values)[];
    const columnOf = (field: string) =>
      (field === 'user_email' ? 'email' : field) as keyof (typeof rows)[number];
    const cases = fields.flatMap((field) =>
      ['==', '!=', 'in'].flatMap((op) =>
        values[field].map((value, i) => ({
          field,
          op,
          value: op === 'in' ? [value, values[field][i + 1] ?? value].join() : value,
        })),
      ),
    );
    const passes = (row: (typeof rows)[number], one: (typeof cases)[number]) => {
      const is = one.value.split(',').includes(String(row[columnOf(one.field)]));
      return one.op === '!=' ? !is : is;
    };
    for (const [i, one] of cases.entries()) {
      const second = cases[(i * 7 + 3) % cases.length] ?? one;
      const query = `limit=100&${filter(one.field, one.op, one.value)}`;
      expect(idsOf(await list(query, partner)), query).toEqual(
        rows.filter((row) => passes(row, one)).map(({ id }) => id),
      );
      const both = `${query}&${filter(second.field, second.op, second.value, 1)}`;
      expect(idsOf(await list(both, partner)), both).toEqual(
        rows.filter((row) => passes(row, one) && passes(row, second)).map(({ id }) => id),
      );
    }
  });

  test('pages in both directions through merged ranges', async () => {
    const query = filter('offer_id', '==', sale.offer.id);
    const all = idsOf(await list(`limit=100&${query}`, partner));
    const pages: string[][] = [];
    let cursor = '';
    let last: Record<string, unknown> = {};
    do {
      last = await list(`limit=3&${query}${cursor}`, partner);
      pages.push(idsOf(last));
      cursor = `&starting_after=${last.starting_after}`;
    } while (last.starting_after !== undefined);
    expect(pages.flat()).toEqual(all);
    const back = await list(`limit=3&${query}&starting_before=${last.starting_before}`, partner);
    expect(idsOf(back)).toEqual(pages.at(-2));
    const otherFilters = await list(`limit=3&starting_before=${last.starting_before}`, partner);
    expect(otherFilters.code).toBe('validation_failed');
  });

  test('rejects unknown filters and treats a malformed id as one without matches', async () => {
    expect((await list(filter('amount', '==', '1'))).code).toBe('validation_failed');
    expect((await list(filter('status', '>', 'pending'))).code).toBe('validation_failed');
    expect((await list(filter('status', '==', 'lost'))).code).toBe('validation_failed');
    expect(idsOf(await list(filter('offer_id', '==', 'nonsense'), partner))).toEqual([]);
    expect(idsOf(await list(filter('offer_id', '!=', 'nonsense'), partner)).length).toBeGreaterThan(0);
    expect(idsOf(await list(filter('user_id', '==', userId(7))))).toEqual([]);
  });
});
