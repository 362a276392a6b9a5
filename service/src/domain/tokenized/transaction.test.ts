import { setTimeout as sleep } from 'node:timers/promises';
import { token } from '@causeway/contracts/abi/token.ts';
import { tokenizedSwap } from '@causeway/contracts/abi/tokenized-swap.ts';
import { roles, testWallets } from '@causeway/sandbox/seed/keys.ts';
import { type Hex, maxUint256 } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  changeEachByte,
  MARKET_OPEN,
  startTokenizedWorld,
  type TokenizedWorld,
  withQuoteOf,
} from '../../../test/support/venue.ts';
import { proveWallets } from '../../../test/support/wallets.ts';
import { deriveSandboxKey } from '../../kernel/config/sandbox-keys.ts';
import { settleOrders } from './watch.ts';

let world: TokenizedWorld;
let time = MARKET_OPEN;
beforeAll(async () => {
  world = await startTokenizedWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  // Chain time cannot go backwards, so every test starts later than the previous one.
  time += 600_000;
  world.app.clock.set(time);
  await world.chain.chain.mine(1);
  Object.assign(world.venue.state, { session: 'regular', assets: {} });
  world.venue.fault.set('none');
  world.app.ctx.venue.clear();
});

const other = () => {
  const { address, private_key } = testWallets[1] ?? {};
  return { address: address as Hex, key: private_key as Hex };
};
const order = (change: object = {}, headers: object = {}) =>
  world.user.call(
    'POST',
    '/v1/tokenized/swap/transaction',
    {
      ...{ amount: '1005000000', chain: 'ethereum_sepolia', symbol: 'AAPLon' },
      wallet_address: world.wallet.address,
      ...change,
    },
    headers,
  );
const balance = (of: Hex, owner: Hex) =>
  world.chain.direct.readContract({ address: of, abi: token.abi, functionName: 'balanceOf', args: [owner] });
const asset = () => world.deployment.assets[0]?.address as Hex;
const broadcast = (body: Record<string, unknown>, key: Hex = world.wallet.key) =>
  world.send(key, body.to as Hex, body.data as Hex);
const attested = () => world.venue.state.attestations;
const ownerKey = deriveSandboxKey('owner');

describe('a purchase', () => {
  test('executes with the quantity, fee and notional value of its reply', async () => {
    const { status, body } = await order();
    expect([status, body.code]).toEqual([200, undefined]);
    expect(body).toMatchObject({
      object: 'tokenized_swap_transaction',
      action: 'broadcast_transaction',
      to: world.deployment.swap,
      expires_at: new Date(time + 30_000).toISOString().replace('.000Z', '.000000Z'),
      pay_input_amount: '1005000000',
      fee: '5000000',
      notional_value: '1000000000',
      pay_input_decimals: 6,
      receive_output_decimals: 18,
    });
    const { address } = world.wallet;
    const before = [await balance(world.usdc, address), await balance(asset(), address)] as const;
    const fees = await balance(world.usdc, roles.owner.address);
    expect(await broadcast(body)).toBe('success');
    expect(before[0] - (await balance(world.usdc, address))).toBe(1_005_000_000n);
    expect((await balance(asset(), address)) - before[1]).toBe(BigInt(String(body.receive_output_amount)));
    expect((await balance(world.usdc, roles.owner.address)) - fees).toBe(5_000_000n);
  });

  test('reverts if any byte of its calldata is changed', async () => {
    const { body } = await order();
    const before = await balance(world.usdc, world.wallet.address);
    const passed: string[] = [];
    for (const [at, data] of changeEachByte(body.data as Hex).entries()) {
      const params = [{ from: world.wallet.address, to: body.to, data }, 'latest'];
      await world.chain.chain.request({ method: 'eth_call', params }).then(
        () => passed.push(`call ${at}`),
        () => undefined,
      );
      // Broadcasts only every 21st change. 21 and 32 are coprime, so this covers every position within 32-byte words.
      if (at % 21 === 0 && (await broadcast({ ...body, data })) !== 'reverted') passed.push(`sent ${at}`);
    }
    expect(passed).toEqual([]);
    expect(await balance(world.usdc, world.wallet.address)).toBe(before);
    expect(await broadcast(body)).toBe('success');
  }, 120_000);

  test('can be executed once, by its wallet, before it expires', async () => {
    const { body } = await order();
    expect(await broadcast(body, other().key)).toBe('reverted');
    expect(await broadcast(body)).toBe('success');
    expect(await broadcast(body)).toBe('reverted');
    const late = await order();
    world.app.clock.set(Date.parse(String(late.body.expires_at)) + 1000);
    expect(await broadcast(late.body)).toBe('reverted');
  });
});

describe('checks before the attestation', () => {
  const approve = (amount: bigint) =>
    world.call(world.wallet.key, world.usdc, token, 'approve', [world.deployment.swap, amount]);

  test('refuse an allowance that is one unit short', async () => {
    await approve(1_004_999_999n);
    const before = attested();
    const { status, body } = await order();
    expect([status, body.code]).toEqual([422, 'insufficient_allowance']);
    expect(body.errors).toEqual({
      ...{ required: '1005000000', allowance: '1004999999' },
      ...{ spender: world.deployment.swap, token: world.usdc },
    });
    expect(attested()).toBe(before);
    await approve(maxUint256);
  });

  test('refuse a low balance, an exceeded limit and a paused contract', async () => {
    const before = attested();
    expect((await order({ amount: String(10n ** 9n * 200_000n + 10n ** 15n) })).body.code).toBe(
      'limit_reached',
    );
    world.venue.state.assets.AAPLon = {
      paused: false,
      redeem_only: false,
      price: null,
      max_notional: '100000000',
    };
    expect((await order({ amount: '1500000000000' })).body.code).toBe('insufficient_balance');
    await world.call(ownerKey, world.deployment.swap, tokenizedSwap, 'pause', [4]);
    expect((await order()).body).toMatchObject({
      code: 'asset_paused',
      errors: { reason: 'CONTRACT_PAUSED' },
    });
    expect(
      (await world.user.call('GET', '/v1/tokenized/swap/trading-status?symbol=AAPLon&side=buy')).body
        .tradable,
    ).toBe(false);
    await world.call(ownerKey, world.deployment.swap, tokenizedSwap, 'pause', [0]);
    expect(attested()).toBe(before);
  });

  test("refuse a contract's fee above the offer's, before the venue is asked, and accept a lower one", async () => {
    const { deployment, offer, venue, app } = world;
    const setFee = (bps: number) =>
      world.call(ownerKey, deployment.swap, tokenizedSwap, 'setFee', [BigInt(bps), roles.owner.address]);
    const before = attested();
    await setFee(1_000);
    const changed = { expected_bps: 50, actual_bps: 1_000 };
    expect(await order()).toMatchObject({ status: 409, body: { code: 'fee_changed', errors: changed } });
    await setFee(51);
    expect((await order({ amount: '1000000' })).body.errors).toEqual({ expected_bps: 50, actual_bps: 51 });
    venue.state.session = 'closed';
    app.ctx.venue.clear();
    expect((await order()).body.code).toBe('fee_changed');
    venue.state.session = 'regular';
    app.ctx.venue.clear();
    expect(attested()).toBe(before);
    await setFee(0);
    expect((await order()).body).toMatchObject({ fee: '0', notional_value: '1005000000' });
    await setFee(offer.fee_bps ?? 0);
  });

  test.each([
    [{ amount: '0' }, 422, 'validation_failed'],
    [{ amount: '-5' }, 422, 'validation_failed'],
    [{ side: 'sell' }, 422, 'validation_failed'],
    [{ chain: 'solana_mainnet' }, 422, 'validation_failed'],
    [{ chain: 'base_sepolia' }, 422, 'chain_not_supported'],
    [{ symbol: 'NOPEon' }, 422, 'symbol_not_found'],
    [{ wallet_address: '0x12' }, 422, 'validation_failed'],
  ])('answer %j with %i %s', async (change, status, code) => {
    const before = attested();
    const reply = await order(change);
    expect([reply.status, reply.body.code]).toEqual([status, code]);
    expect(attested()).toBe(before);
  });
});

test('reads the terms again if the other checks took long', async () => {
  const { pool } = world.app.ctx;
  const before = attested();
  const client = await pool.connect();
  await client.query('begin');
  await client.query('lock table wallet_proofs in access exclusive mode');
  const waiting = order();
  await sleep(700);
  await world.call(world.wallet.key, world.usdc, token, 'approve', [world.deployment.swap, 0n]);
  await client.query('rollback');
  client.release();
  const { body } = await waiting;
  // Comes before the assertions, because the other tests need the allowance.
  await world.call(world.wallet.key, world.usdc, token, 'approve', [world.deployment.swap, maxUint256]);
  expect(body.code).toBe('insufficient_allowance');
  expect(attested()).toBe(before);
});

test('a refused request ends when all that it has started has ended', async () => {
  const { venue } = world.app.ctx;
  const { tradingLimits } = venue;
  let pending = 0;
  vi.spyOn(venue, 'tradingLimits').mockImplementation(async (...args) => {
    pending++;
    await sleep(300);
    return tradingLimits(...args).finally(() => pending--);
  });
  const { status, body } = await order({ wallet_address: other().address });
  expect([status, body.code, pending]).toEqual([403, 'wallet_not_proven', 0]);
  expect(venue.tradingLimits).toHaveBeenCalledOnce();
  vi.mocked(venue.tradingLimits).mockRestore();
});

describe('while the attestation is being stored', () => {
  /** While `work` runs, the database runs `statement` before it stores an attestation. */
  const whileStoring = async <T>(statement: string, work: () => Promise<T>): Promise<T> => {
    const { pool } = world.app.ctx;
    await pool.query(`
      create function before_attested() returns trigger language plpgsql as $$ begin ${statement}; return new; end $$;
      create trigger before_attested before update on tokenized_orders
        for each row when (new.state = 'attested') execute function before_attested()`);
    return work().finally(() => pool.query('drop function before_attested cascade'));
  };
  const lastState = async () =>
    (
      await world.app.ctx.db
        .selectFrom('tokenized_orders')
        .select('state')
        .orderBy('inserted_at', 'desc')
        .executeTakeFirst()
    )?.state;

  test('the calldata waits for it, however long it takes', async () => {
    const { status } = await whileStoring('perform pg_sleep(0.3)', () => order());
    expect([status, await lastState()]).toEqual([200, 'live']);
  });

  test('no calldata is given out if it fails', async () => {
    const key = { 'idempotency-key': `not-stored-${time}` };
    const refuse = `raise exception 'refused by a test'`;
    expect(await whileStoring(refuse, () => order({}, key))).toMatchObject({
      ...{ status: 500, body: { code: 'internal_error' } },
    });
    expect(await lastState()).toBe('asking');
    // Nobody knows whether the order was attested, so a retry gets no second attestation.
    expect((await order({}, key)).body.code).toBe('order_outstanding');
  });

  test('the order fails if its simulation reverts', async () => {
    const { venue } = world.app.ctx;
    const { attest } = venue;
    vi.spyOn(venue, 'attest').mockImplementationOnce(async (...args) => ({
      ...(await attest(...args)),
      signature: `0x${'11'.repeat(64)}1b`,
    }));
    const { status, body } = await whileStoring('perform pg_sleep(0.3)', () => order());
    expect([status, body.code, await lastState()]).toEqual([422, 'contract_reverted', 'failed']);
    expect((await order()).status).toBe(200);
  });

  test('the order fails if its attestation expires', async () => {
    const expire = async () => {
      await sleep(400);
      world.app.clock.advance(200);
    };
    const [{ status, body }] = await whileStoring('perform pg_sleep(0.8)', () =>
      Promise.all([order(), expire()]),
    );
    expect([status, body.code, await lastState()]).toEqual([502, 'upstream_error', 'failed']);
  });
});

describe('open orders', () => {
  test('block another order of the wallet and asset until they are executed or expired', async () => {
    const first = await order();
    const second = await order({ amount: '2000000' });
    expect([second.status, second.body.code, second.body.errors]).toEqual([
      409,
      'order_outstanding',
      { expires_at: first.body.expires_at },
    ]);
    expect(await broadcast(first.body)).toBe('success');
    const third = await order();
    expect(third.status).toBe(200);
    world.app.clock.advance(31);
    await world.chain.chain.mine(1);
    expect((await order()).status).toBe(200);
  });

  test('use up one attestation for many concurrent requests', async () => {
    const before = attested();
    const replies = await Promise.all(Array.from({ length: 12 }, () => order()));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ body }) => body.code === 'order_outstanding')).toHaveLength(11);
    expect(attested() - before).toBe(1);
  });

  test('return the same calldata for the same idempotency key', async () => {
    const before = attested();
    const key = { 'idempotency-key': `same-${time}` };
    const [first, again] = [await order({}, key), await order({}, key)];
    expect(first.status).toBe(200);
    expect(again.body).toEqual(first.body);
    expect(attested() - before).toBe(1);
  });
});

describe('the outcome of an order', () => {
  const events = async () =>
    (await world.app.ctx.db.selectFrom('events').select(['type', 'data']).orderBy('written').execute()) as {
      type: string;
      data: { pay_input_amount: string; transaction_hash: string | null };
    }[];

  test('is one event after that of its issue: executed with its transaction hash, or expired', async () => {
    await world.app.ctx.db.deleteFrom('events').execute();
    await world.app.ctx.db.deleteFrom('tokenized_orders').execute();
    const done = await order();
    await settleOrders(world.app.ctx);
    expect((await events()).map(({ type }) => type)).toEqual(['tokenized_swap.issued']);
    await broadcast(done.body);
    await Promise.all([settleOrders(world.app.ctx), settleOrders(world.app.ctx)]);
    await order({ amount: '5000000' });
    world.app.clock.advance(31);
    await world.chain.chain.mine(1);
    await Promise.all([settleOrders(world.app.ctx), settleOrders(world.app.ctx)]);
    const written = await events();
    expect(written.map(({ type, data }) => [type, data.pay_input_amount])).toEqual([
      ['tokenized_swap.issued', '1005000000'],
      ['tokenized_swap.executed', '1005000000'],
      ['tokenized_swap.issued', '5000000'],
      ['tokenized_swap.expired', '5000000'],
    ]);
    expect(written[1]?.data.transaction_hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(written[3]?.data.transaction_hash).toBeNull();
  });

  test('is not executed by another wallet or attestation: a quote put into another order settles neither', async () => {
    const { app, usdc, deployment, wallet, send } = world;
    await app.ctx.db.deleteFrom('events').execute();
    await app.ctx.db.deleteFrom('tokenized_orders').execute();
    await proveWallets(app.ctx, [wallet.address, other().address]);
    await world.call(other().key, usdc, token, 'approve', [deployment.swap, maxUint256]);
    const mine = await order();
    const theirs = await order({ wallet_address: other().address });
    expect([mine.status, theirs.status]).toEqual([200, 200]);
    const data = withQuoteOf(mine.body.data as Hex, theirs.body.data as Hex);
    expect(await send(wallet.key, deployment.swap, data)).toBe('success');
    await settleOrders(app.ctx);
    world.app.clock.advance(31);
    await world.chain.chain.mine(1);
    await settleOrders(app.ctx);
    const outcomes = (await events()).map(({ type }) => type).slice(2);
    expect(outcomes).toEqual(['tokenized_swap.expired', 'tokenized_swap.expired']);
  });

  test('is found although 600 orders of a chain that cannot be read wait longer', async () => {
    const { ctx } = world.app;
    const { pool } = ctx;
    await ctx.db.deleteFrom('events').execute();
    await ctx.db.deleteFrom('tokenized_orders').execute();
    const done = await order({ amount: '6000000' });
    expect(done.status).toBe(200);
    await pool.query(
      `insert into tokenized_orders select (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'holding',
        false, 'chain', 'base_mainnet', 'claim', null, 'check_at', now() - interval '1 hour'))).*
       from tokenized_orders o, generate_series(1, 600)`,
    );
    const warn = vi.spyOn(ctx.log, 'warn').mockImplementation(() => undefined);
    await broadcast(done.body);
    await settleOrders(ctx);
    await settleOrders(ctx);
    expect((await events()).map(({ type }) => type)).toEqual([
      'tokenized_swap.issued',
      'tokenized_swap.executed',
    ]);
    expect(warn.mock.calls.map(([fields]) => (fields as { orders?: number }).orders)).toEqual([500, 499]);
    warn.mockRestore();
    await pool.query("delete from tokenized_orders where chain = 'base_mainnet'");
  });
});
