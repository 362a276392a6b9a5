import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { USER } from '../../../test/support/tokens.ts';
import { startTokenizedWorld, type TokenizedWorld } from '../../../test/support/venue.ts';
import { evmWallet, proveWallets } from '../../../test/support/wallets.ts';
import { ApiError } from '../../kernel/errors.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Offer } from '../../platform/context/ports.ts';
import { eraseUser } from '../erasure/erasure.ts';
import { releaseHold } from '../holdings/freeze.ts';
import { holdUser } from '../users/hold.ts';
import { erasedAddressOf } from '../users/user.ts';
import { alertRestricted } from './restricted-orders.ts';

let world: TokenizedWorld;
beforeAll(async () => {
  world = await startTokenizedWorld();
  world.venue.state.session = 'regular';
});
afterAll(() => world.close());
afterEach(async () => {
  await world.app.ctx.db.deleteFrom('tokenized_orders').execute();
  await proveWallets(world.app.ctx, [world.wallet.address]);
  await releaseHold(world.app.ctx, USER, 'test');
});

const order = (key: string, wallet: string = world.wallet.address) =>
  world.user.call(
    'POST',
    '/v1/tokenized/swap/transaction',
    { amount: '1005000000', chain: 'ethereum_sepolia', symbol: 'AAPLon', wallet_address: wallet },
    { 'idempotency-key': key },
  );
const endProof = () =>
  world.app.ctx.db
    .deleteFrom('wallet_proofs')
    .where('address', '=', world.wallet.address.toLowerCase())
    .execute();
const states = async () =>
  (await world.app.ctx.db.selectFrom('tokenized_orders').select('state').execute()).map(({ state }) => state);

/** While `work` runs, applies `change` to the attestations that the venue returns. */
async function withAttestation<T>(change: { expiration: bigint }, work: () => Promise<T>): Promise<T> {
  const { venue } = world.app.ctx;
  const { attest } = venue;
  venue.attest = async (...args) => ({ ...(await attest(...args)), ...change });
  return work().finally(() => Object.assign(venue, { attest }));
}

/** Runs `work`. When `work` has the attestation and is about to sign the calldata, runs `between` first. */
async function whileSigning<T>(between: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const operator = world.app.ctx.signerOf('quote', 'ethereum_sepolia');
  if (operator === null) throw new Error('no operator');
  const { signRequest } = operator;
  operator.signRequest = async (...args) => {
    await between();
    return signRequest(...args);
  };
  return work().finally(() => Object.assign(operator, { signRequest }));
}

/** Runs `work`, with `between` after the first eligibility check and before the order is stored. */
async function whileChecking<T>(between: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const { db, forPartner } = world.app.ctx;
  const { id } = await db.selectFrom('partners').select('id').executeTakeFirstOrThrow();
  const { venue } = forPartner(id);
  const { tradingLimits } = venue;
  venue.tradingLimits = async (...args) => {
    await between();
    return tradingLimits(...args);
  };
  return work().finally(() => Object.assign(venue, { tradingLimits }));
}

/** Returns the offer as the node currently serves it. */
async function servedOffer(): Promise<Offer | undefined> {
  const { db, offers } = world.app.ctx;
  const { id } = await db.selectFrom('partners').select('id').executeTakeFirstOrThrow();
  return (await offers.of(id)).offers[0];
}

/** Sets the allow-list of the offer's contracts, or removes it if `contract` is null. */
async function setAllowList(contract: Hex | null): Promise<void> {
  const { ctx } = world.app;
  await ctx.db.updateTable('offer_contracts').set({ allow_list: contract }).execute();
  while ((await servedOffer())?.contracts[0]?.allow_list !== contract) await sleep(2);
}

const fail = async () => {
  throw new ApiError('upstream_unavailable', { upstream: 'signer' });
};

describe('an order', () => {
  test('needs a wallet that its user has proven', async () => {
    await endProof();
    const before = world.venue.requests('POST /v1/attestations');
    const { status, body } = await order('unproven');
    expect([status, body.code]).toEqual([403, 'wallet_not_proven']);
    expect(body.errors).toMatchObject({ checks: [{ code: 'wallet_proof', next: { type: 'wallet_proof' } }] });
    expect(world.venue.requests('POST /v1/attestations')).toBe(before);
    expect(await states()).toEqual([]);
  });

  test('is resumed after an error for the stored intent only', async () => {
    expect((await whileSigning(fail, () => order('resumed'))).status).toBe(503);
    expect(await states()).toEqual(['attested']);
    const other = evmWallet('resumed by another');
    const orderAgain = async () => {
      const { status, body } = await order('resumed', other.address);
      return [status, body.code];
    };
    // Neither request reveals whether the user may trade with the other wallet.
    expect(await orderAgain()).toEqual([422, 'idempotency_key_reused']);
    await proveWallets(world.app.ctx, [other.address]);
    expect(await orderAgain()).toEqual([422, 'idempotency_key_reused']);
    expect(await states()).toEqual(['attested']);
  });

  test('is not resumed for a user who has lost eligibility', async () => {
    expect((await whileSigning(fail, () => order('lost'))).status).toBe(503);
    await endProof();
    expect((await order('lost')).body.code).toBe('wallet_not_proven');
    expect(await states()).toEqual(['attested']);
  });

  test('is not replayed to a user who has lost eligibility', async () => {
    const given = await order('replayed');
    expect(given.status).toBe(200);
    expect(await order('replayed')).toEqual(given);
    await endProof();
    const { body } = await order('replayed');
    expect([body.code, body.data]).toEqual(['wallet_not_proven', undefined]);
  });

  test('gives no calldata for an offer that is closed while it is signed', async () => {
    const { db, clock } = world.app.ctx;
    const close = (closed_at: string | null) =>
      db.updateTable('offers').set({ closed_at }).where('symbol', '=', 'AAPLon').execute();
    try {
      const { body } = await whileSigning(
        () => close(toTimestamp(clock.micros())),
        () => order('closed'),
      );
      expect(body).toMatchObject({ code: 'offer_ended' });
      expect(await states()).toEqual(['attested']);
    } finally {
      await close(null);
    }
  });

  test('gives no calldata if the proof stops counting on the chain while it is signed', async () => {
    const text = 'I own this wallet';
    const signature = await privateKeyToAccount(world.wallet.key).signMessage({ message: text });
    const proveOn = (chain: string) =>
      world.app.ctx.db
        .updateTable('wallet_proofs')
        .set({ kind: 'contract', chain, text, signature })
        .where('address', '=', world.wallet.address.toLowerCase())
        .execute();
    await proveOn('ethereum_sepolia');
    expect((await order('proven-here')).status).toBe(200);
    await world.app.ctx.db.deleteFrom('tokenized_orders').execute();
    const { body } = await whileSigning(
      () => proveOn('base_sepolia'),
      () => order('proven-elsewhere'),
    );
    expect(body).toMatchObject({ code: 'wallet_not_proven' });
    expect(await states()).toEqual(['attested']);
    await endProof();
  });

  test.each(['hold', 'proof'] as const)(
    'gives no calldata if the %s changes while it is signed',
    async (what) => {
      const between = () => (what === 'hold' ? holdUser(world.app.ctx, USER, 'in between') : endProof());
      const { status, body } = await whileSigning(between, () => order(`in-between-${what}`));
      expect([status, body.code]).toEqual([
        403,
        what === 'hold' ? 'account_restricted' : 'wallet_not_proven',
      ]);
      expect(await states()).toEqual(['attested']);
      const reasons = sql<{ reason: string }>`
        select entry::json ->> 'reason' as reason from audit_entries where entry like '%"eligibility.refused"%'`;
      await expect
        .poll(async () => (await reasons.execute(world.app.ctx.db)).rows.map(({ reason }) => reason))
        .toContain(body.code);
    },
  );

  test('is not stored for a user who is erased after the first check, although the proof remains', async () => {
    const { db } = world.app.ctx;
    const user = db.selectFrom('users').select('email').where('id', '=', USER);
    const { email } = await user.executeTakeFirstOrThrow();
    const rename = (to: string) =>
      db.updateTable('users').set({ email: to }).where('id', '=', USER).execute();
    const { body } = await whileChecking(
      () => rename(erasedAddressOf(USER)),
      () => order('erased'),
    ).finally(() => rename(email));
    expect(body.code).toBe('unauthorized');
    expect(await states()).toEqual([]);
  });

  test.each(['hold', 'proof'] as const)(
    'is not stored if the %s changes after the first check',
    async (what) => {
      const between = () => (what === 'hold' ? holdUser(world.app.ctx, USER, 'meanwhile') : endProof());
      const { body } = await whileChecking(between, () => order(what));
      expect(body.code).toBe(what === 'hold' ? 'account_restricted' : 'wallet_not_proven');
      expect(await states()).toEqual([]);
    },
  );

  test('says that a wallet is sanctioned even if the order has ended meanwhile', async () => {
    const { db, sanctions } = world.app.ctx;
    const { has } = sanctions;
    const between = () => {
      sanctions.has = (each) => each === world.wallet.address.toLowerCase();
      return db.updateTable('tokenized_orders').set({ state: 'abandoned', holding: false }).execute();
    };
    const { body } = await whileSigning(between, () => order('sanctioned-and-ended')).finally(() => {
      sanctions.has = has;
    });
    expect(body).toMatchObject({ code: 'wallet_sanctioned' });
  });

  test('gives no calldata to a wallet that leaves the allow-list while it is signed', async () => {
    const list = evmWallet('allow-list').address as Hex;
    // A contract that returns this byte from every call.
    const setList = async (byte: '00' | '01') => {
      const code = `0x60${byte}60005260206000f3`;
      await world.chain.chain.request({ method: 'hardhat_setCode', params: [list, code] });
      await world.chain.chain.request({ method: 'evm_mine', params: [] });
    };
    await setList('01');
    await setAllowList(list);
    try {
      expect((await order('allowed')).status).toBe(200);
      await world.app.ctx.db.deleteFrom('tokenized_orders').execute();
      const { body } = await whileSigning(
        () => setList('00'),
        () => order('not-allowed'),
      );
      expect(body).toMatchObject({ errors: { checks: [{ code: 'allow_list' }] } });
      expect(await states()).toEqual(['attested']);
    } finally {
      await setAllowList(null);
    }
  });

  test('gives no calldata to a wallet that is replaced as the bound one while it is signed', async () => {
    const { db } = world.app.ctx;
    const { id: option_id } = world.offer.options[0] ?? { id: '' };
    const { id: partner_id } = await db.selectFrom('partners').select('id').executeTakeFirstOrThrow();
    const bind = (address: string) =>
      db.updateTable('option_addresses').set({ address: address.toLowerCase() }).execute();
    await sql`insert into requirements (id, option_id, key, type, details, position)
      values (gen_random_uuid(), ${option_id}, 'wallet', 'external_wallet', '{"protocol": "ethereum"}', 0)`.execute(
      db,
    );
    await sql`insert into option_addresses (id, option_id, user_id, protocol, address, partner_id, proved_chain, proved_at, created_at)
      values (gen_random_uuid(), ${option_id}, ${USER}, 'ethereum', ${world.wallet.address.toLowerCase()}, ${partner_id},
        'ethereum_sepolia', now(), now())`.execute(db);
    while ((await servedOffer())?.options[0]?.requirements.length !== 1) await sleep(2);
    try {
      expect((await order('bound')).status).toBe(200);
      await db.deleteFrom('tokenized_orders').execute();
      const { body } = await whileSigning(
        () => bind(evmWallet('bound instead').address),
        () => order('bound-instead'),
      );
      expect(body).toMatchObject({ errors: { wallet_address: ['is not bound to this option'] } });
      expect(await states()).toEqual(['attested']);
    } finally {
      await db.deleteFrom('option_addresses').execute();
      await db.deleteFrom('requirements').where('option_id', '=', option_id).execute();
      while ((await servedOffer())?.options[0]?.requirements.length !== 0) await sleep(2);
    }
  });
});

describe('calldata', () => {
  test('is not given out for an attestation that is valid for more than 120 seconds', async () => {
    const now = BigInt(Math.floor(world.app.clock.now() / 1000));
    const long = await withAttestation({ expiration: now + 121n }, () => order('long'));
    expect(long).toMatchObject({
      status: 502,
      body: { code: 'upstream_error', errors: { upstream: 'venue' } },
    });
    expect(await states()).toEqual(['failed']);
    // The failed order does not block the next one.
    expect((await order('short')).status).toBe(200);
  });

  const takeQueued = async () =>
    (await world.app.ctx.db.deleteFrom('allow_revocations').returning(['contract', 'wallet']).execute()).map(
      ({ contract, wallet }) => ({ contract, wallet }),
    );

  test.each(['hold', 'sanctions'] as const)(
    'that is live during a %s is reported once, and its wallet is revoked where there is an allow-list',
    async (reason) => {
      const { ctx } = world.app;
      const wallet = world.wallet.address.toLowerCase();
      const contract = world.chain.deployment.fund_swap.address;
      expect((await order(`live-${reason}`)).status).toBe(200);
      expect(await alertRestricted(ctx)).toBe(0);
      await setAllowList(contract);
      const { has } = ctx.sanctions;
      if (reason === 'hold') await holdUser(ctx, USER, 'a secret reason');
      else ctx.sanctions.has = (each) => each === wallet;
      const alerts = await Promise.all([alertRestricted(ctx), alertRestricted(ctx)]);
      ctx.sanctions.has = has;
      expect(alerts).toEqual([1, 1]);
      const { id } = await ctx.db.selectFrom('tokenized_orders').select('id').executeTakeFirstOrThrow();
      const named = world.app.logged().split(`restricted order can still be executed: ${id}`).length - 1;
      expect(named).toBe(1);
      expect(await takeQueued()).toEqual([{ contract, wallet }]);
      await setAllowList(null);
    },
  );

  test.each([
    { keeper: 'the issuer', canAdmit: async () => false, revocations: 0 },
    { keeper: 'an unknown owner', canAdmit: fail, revocations: 1 },
  ])(
    'of a held user on an allow-list of $keeper queues $revocations revocations',
    async ({ keeper, canAdmit, revocations }) => {
      const { ctx } = world.app;
      const { supplier } = ctx;
      const admit = supplier.canAdmit;
      expect((await order(`kept by ${keeper}`.replaceAll(' ', '-'))).status).toBe(200);
      await setAllowList(world.chain.deployment.fund_swap.address);
      await holdUser(ctx, USER, 'a reason');
      supplier.canAdmit = canAdmit;
      expect(await alertRestricted(ctx)).toBe(1);
      supplier.canAdmit = admit;
      const [row] = await ctx.db.selectFrom('tokenized_orders').select('restricted_reason').execute();
      expect(row?.restricted_reason).toBe('hold');
      expect(await takeQueued()).toHaveLength(revocations);
      await setAllowList(null);
    },
  );

  test('that is live keeps its user from being erased', async () => {
    expect((await order('not-erased')).status).toBe(200);
    await expect(eraseUser(world.app.ctx, USER, 'requested')).rejects.toMatchObject({
      code: 'validation_failed',
      details: { user: [expect.stringContaining('live orders')] },
    });
  });

  test('that cannot be handled does not keep the others from being reported', async () => {
    const { ctx } = world.app;
    expect((await order('after-a-broken-one')).status).toBe(200);
    // An older order, on a chain where the offer is no longer deployed.
    await sql`insert into tokenized_orders select (jsonb_populate_record(o, jsonb_build_object(
        'id', '00000000-0000-7000-8000-000000000001', 'chain', 'base_sepolia', 'claim', null))).*
      from tokenized_orders o`.execute(ctx.db);
    await holdUser(ctx, USER, 'a reason');
    expect(await alertRestricted(ctx)).toBe(2);
    const rows = await ctx.db.selectFrom('tokenized_orders').select(['chain', 'restricted_reason']).execute();
    expect(rows).toContainEqual({ chain: 'ethereum_sepolia', restricted_reason: 'hold' });
    expect(rows).toContainEqual({ chain: 'base_sepolia', restricted_reason: null });
  });
});
