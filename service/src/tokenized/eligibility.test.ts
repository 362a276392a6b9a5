import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { USER } from '../../test/support/tokens.ts';
import { startTokenizedWorld, type TokenizedWorld } from '../../test/support/venue.ts';
import { evmWallet, proveWallets } from '../../test/support/wallets.ts';
import { holdUser } from '../accounts/hold.ts';
import { releaseHold } from '../eligibility/account.ts';
import { ApiError } from '../errors.ts';
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

/** Changes the attestations of the venue. */
async function withAttestation<T>(change: { expiration: bigint }, work: () => Promise<T>): Promise<T> {
  const { venue } = world.app.ctx;
  const { attest } = venue;
  venue.attest = async (...args) => ({ ...(await attest(...args)), ...change });
  return work().finally(() => Object.assign(venue, { attest }));
}

/** Runs `between` after the attestation, before the calldata is signed. */
async function whileSigning<T>(between: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const { operator } = world.app.ctx;
  if (operator === null) throw new Error('no operator');
  const { signRequest } = operator;
  operator.signRequest = async (...args) => {
    await between();
    return signRequest(...args);
  };
  return work().finally(() => Object.assign(operator, { signRequest }));
}
const fail = async () => {
  throw new ApiError('upstream_unavailable', { upstream: 'signer' });
};

describe('an order', () => {
  test('needs a wallet that its user has proven', async () => {
    await endProof();
    const before = world.venue.requests('/v1/attestations');
    const { status, body } = await order('unproven');
    expect([status, body.code]).toEqual([403, 'wallet_not_proven']);
    expect(body.errors).toMatchObject({ checks: [{ code: 'wallet_proof', next: { type: 'wallet_proof' } }] });
    expect(world.venue.requests('/v1/attestations')).toBe(before);
    expect(await states()).toEqual([]);
  });

  test('is resumed after an error for the stored intent only', async () => {
    expect((await whileSigning(fail, () => order('resumed'))).status).toBe(503);
    expect(await states()).toEqual(['attested']);
    const other = evmWallet('resumed by another');
    await proveWallets(world.app.ctx, [other.address]);
    const { status, body } = await order('resumed', other.address);
    expect([status, body.code]).toEqual([422, 'idempotency_key_reused']);
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

  test.each(['hold', 'proof'] as const)(
    'gives no calldata when a lost %s arrives while it is signed',
    async (what) => {
      const between = () => (what === 'hold' ? holdUser(world.app.ctx, USER, 'in between') : endProof());
      const { status, body } = await whileSigning(between, () => order(`in-between-${what}`));
      expect([status, body.code]).toEqual([
        403,
        what === 'hold' ? 'account_restricted' : 'wallet_not_proven',
      ]);
      expect(await states()).toEqual(['attested']);
    },
  );
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
    // Nothing blocks the next order.
    expect((await order('short')).status).toBe(200);
  });

  test.each(['hold', 'sanctions'] as const)(
    'that is live during a %s is reported once, and its wallet is revoked where there is an allow-list',
    async (reason) => {
      const { ctx } = world.app;
      const wallet = world.wallet.address.toLowerCase();
      const contract = world.chain.deployment.fund_swap.address;
      expect((await order(`live-${reason}`)).status).toBe(200);
      expect(await alertRestricted(ctx)).toBe(0);
      await ctx.db.updateTable('offer_contracts').set({ allow_list: contract }).execute();
      const partner = (await ctx.db.selectFrom('partners').select('id').executeTakeFirstOrThrow()).id;
      const listed = async () => (await ctx.offers.of(partner)).offers[0]?.contracts[0]?.allow_list;
      while ((await listed()) !== contract) await sleep(2);
      const { has } = ctx.sanctions;
      if (reason === 'hold') await holdUser(ctx, USER, 'a secret reason');
      else ctx.sanctions.has = (each) => each === wallet;
      const alerts = await Promise.all([alertRestricted(ctx), alertRestricted(ctx)]);
      ctx.sanctions.has = has;
      expect(alerts).toEqual([1, 1]);
      const { id } = await ctx.db.selectFrom('tokenized_orders').select('id').executeTakeFirstOrThrow();
      const named = world.app.logged().split(`calldata is live for a restricted order: ${id}`).length - 1;
      expect(named).toBe(1);
      const queued = await ctx.db.selectFrom('allow_revocations').select(['contract', 'wallet']).execute();
      expect(queued).toEqual([{ contract, wallet }]);
      await ctx.db.deleteFrom('allow_revocations').execute();
      await ctx.db.updateTable('offer_contracts').set({ allow_list: null }).execute();
      while ((await listed()) !== null) await sleep(2);
    },
  );
});
