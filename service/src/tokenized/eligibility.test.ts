import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { USER } from '../../test/support/tokens.ts';
import { startTokenizedWorld, type TokenizedWorld } from '../../test/support/venue.ts';
import { evmWallet, proveWallets } from '../../test/support/wallets.ts';
import { holdUser } from '../accounts/hold.ts';
import { releaseHold } from '../eligibility/account.ts';
import { ApiError } from '../errors.ts';

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

/** Runs `between` after the attestation, before the calldata is signed. */
async function whileSigning<T>(between: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const { operator } = world.app.ctx;
  if (operator === null) throw new Error('no operator');
  const { signTypedData, signHash } = operator;
  operator.signTypedData = async (data) => {
    await between();
    return signTypedData(data);
  };
  operator.signHash = async (hash) => {
    await between();
    return signHash(hash);
  };
  return work().finally(() => Object.assign(operator, { signTypedData, signHash }));
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
