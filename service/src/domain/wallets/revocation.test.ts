import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { roles, sandboxKey } from '@causeway/sandbox/seed/keys.ts';
import { sql } from 'kysely';
import type { Hex } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { START, type TestApp, testApp } from '../../../test/support/app.ts';
import { expectAudited } from '../../../test/support/audited.ts';
import { startTestChain, type TestChain, type TestNode } from '../../../test/support/chain.ts';
import { putFacts } from '../../../test/support/facts.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { saleWorker } from '../../../test/support/sale.ts';
import { evmWallet, type Person, person, type TestWallet, userId } from '../../../test/support/wallets.ts';
import { deriveSandboxKey } from '../../kernel/config/sandbox-keys.ts';
import type { Offer } from '../../platform/context/ports.ts';
import { withPolicy } from '../../platform/operator/policy.ts';
import { localSigner } from '../../platform/operator/signer.ts';
import { openSpendLedger } from '../../platform/operator/spend-ledger.ts';
import { eraseUser } from '../erasure/erasure.ts';
import { releaseHold } from '../holdings/freeze.ts';
import { rescreen } from '../screening/rescreen.ts';
import { holdUser } from '../users/hold.ts';
import { checkAllowed } from './allowed-check.ts';
import { settleVerifications } from './verification.ts';

let chain: TestChain;
let node: TestNode;
let app: TestApp;
let contract: Hex;
let offer: Offer;
let count = 0;
/** Each test has its own user and wallet. */
let id: string;
let user: Person;
let wallet: TestWallet;

beforeAll(async () => {
  chain = await startTestChain();
  node = await chain.addNode();
  contract = chain.deployment.fund_swap.address;
  app = await testApp({
    config: {
      supplierKey: sandboxKey('supplier'),
      operatorKey: sandboxKey('operator'),
      rpcUrls: { ethereum_sepolia: [node.url] },
    },
  });
  const [usdc] = chain.deployment.tokens;
  const deployed = {
    ...{ chain: 'ethereum_sepolia', address: contract, allow_list: true },
    funding_tokens: [{ asset: 'usd-coin', address: usdc?.address }],
  };
  const requirements = [
    { type: 'kyc_approved' },
    { type: 'accreditation' },
    { type: 'document', details: { document_type: 'tax_certification' } },
    { type: 'jurisdiction', details: { filter_type: 'reject', filters: [{ country_iso_2: 'FR' }] } },
  ];
  offer = await makeOffer(
    app.ctx,
    saleFile({
      ...{ slug: 'swap', type: 'fund::swap', contracts: [deployed] as never },
      options: [{ slug: 'standard', price_usd: '1', requirements }] as never,
    }),
  );
});
afterAll(async () => {
  await app.close();
  await chain.close();
});
beforeEach(async () => {
  app.clock.set(START);
  id = userId(1000 + count++);
  user = await person(app, { userId: id });
  wallet = evmWallet(`revoked ${count}`);
  await putFacts(app.ctx, { userId: id });
});

const authorized = () =>
  chain.direct.readContract({
    ...{ address: contract, abi: fundSwap.abi, functionName: 'authorized', args: [wallet.address as Hex] },
  });
const nonce = () =>
  chain.direct.readContract({
    ...{ address: contract, abi: fundSwap.abi, functionName: 'nonces', args: [wallet.address as Hex] },
  });
const states = async () =>
  (
    await app.ctx.db
      .selectFrom('allow_verifications')
      .select('state')
      .where('wallet', '=', wallet.address)
      .orderBy('inserted_at')
      .execute()
  ).map(({ state }) => state);
const eventsOf = async (who = id) =>
  (
    await app.ctx.db
      .selectFrom('events')
      .select(['type', 'data'])
      .where('user_id', '=', who)
      .orderBy('written')
      .execute()
  )
    .filter(({ type }) => type === 'wallet.allowed' || type === 'wallet.revoked')
    .map(({ type, data }) => [type, data.status]);

async function broadcast({ body }: { body: Record<string, unknown> }): Promise<string> {
  const { to, data } = body as { to: Hex; data: Hex };
  const hash = await chain.owner.sendTransaction({ to, data, gas: 500_000n });
  return (await chain.direct.waitForTransactionReceipt({ hash })).status;
}

/** Puts the test's wallet on the allow-list. */
async function allow(): Promise<void> {
  expect(await broadcast(await user.allow(offer.id, wallet))).toBe('success');
  await settleVerifications(app.ctx);
  await checkAllowed(app.ctx);
  expect([await states(), await authorized()]).toEqual([['allowed'], true]);
}

/** Runs the check and settlement until nothing is left to do. */
async function settle(): Promise<void> {
  await checkAllowed(app.ctx);
  await saleWorker({ app }).settle();
  await chain.chain.mine(2);
  await saleWorker({ app }).settle();
}

const identity = (change: Parameters<typeof putFacts>[1]) => () =>
  putFacts(app.ctx, { userId: id, ...change });
const afterDays = (days: number) => async () => app.clock.set(START + days * 86_400_000);

const CAUSES: Record<string, () => Promise<unknown>> = {
  'a hold': () => holdUser(app.ctx, id, 'a secret reason'),
  'a final rejection': identity({ reviews: { Sorting_KYC_Level: 'FINAL' } }),
  'a deactivated applicant': identity({ isActive: false }),
  'a rejected country': identity({ country: 'FR' }),
  'a blocked country': identity({ country: 'KP' }),
  'a lapsed accreditation': afterDays(91),
  'a lost form': identity({ hasForm: false }),
  'the removal of the wallet': async () => {
    const { body } = await user.bind(offer.id, offer.options[0]?.id ?? '', wallet);
    expect((await user.call('DELETE', `/v1/offers/${offer.id}/addresses/${body.id}`)).status).toBe(200);
  },
};

describe('an allowed wallet', () => {
  test.each(Object.keys(CAUSES))('is revoked exactly once after %s', async (cause) => {
    await allow();
    await CAUSES[cause]?.();
    await settle();
    expect([await states(), await authorized(), await nonce()]).toEqual([['revoked'], false, 1n]);
    await Promise.all([settle(), checkAllowed(app.ctx)]);
    expect([await states(), await nonce()]).toEqual([['revoked'], 1n]);
    expect(await eventsOf()).toEqual([
      ['wallet.allowed', 'allowed'],
      ['wallet.revoked', 'revoked'],
    ]);
  });

  test('is revoked when its address is sanctioned', async () => {
    await allow();
    const { sanctions } = app.ctx;
    const original = { ...sanctions };
    Object.assign(sanctions, {
      has: (each: string) => each === wallet.address,
      addresses: () => new Set([wallet.address]),
      hash: () => 'listed',
    });
    await rescreen(app.ctx);
    await settle();
    Object.assign(sanctions, original);
    expect([await states(), await authorized()]).toEqual([['revoked'], false]);
    await expectAudited(
      app.ctx,
      'wallet_revocation.waiting',
      'wallet_revocation.sent',
      'wallet_revocation.done',
    );
    await expectAudited(app.ctx, 'wallet_permission.revoking', 'wallet_permission.revoked');
  });

  test('stays allowed while its user is eligible or a review is in progress', async () => {
    await allow();
    await putFacts(app.ctx, { userId: id, reviews: { BasicKYCLevel: 'pending' } });
    await settle();
    await putFacts(app.ctx, { userId: id });
    await settle();
    expect([await states(), await authorized(), await nonce()]).toEqual([['allowed'], true, 0n]);
  });

  test('can be allowed again once its user is eligible again', async () => {
    await allow();
    await holdUser(app.ctx, id, 'a reason');
    await settle();
    await releaseHold(app.ctx, id, 'cleared');
    await allow();
    await holdUser(app.ctx, id, 'another reason');
    await settle();
    expect([await states(), await authorized(), await nonce()]).toEqual([['revoked'], false, 2n]);
    expect((await eventsOf()).map(([type]) => type)).toEqual([
      ...['wallet.allowed', 'wallet.revoked', 'wallet.allowed', 'wallet.revoked'],
    ]);
  });

  test('gets no permission while its revocation is open', async () => {
    await allow();
    await holdUser(app.ctx, id, 'a reason');
    await checkAllowed(app.ctx);
    await releaseHold(app.ctx, id, 'cleared');
    const signature = String(await wallet.sign(await user.challenge(wallet)));
    const body = { chain: wallet.chain, wallet_address: wallet.address, signature };
    const refused = await user.call('POST', `/v1/offers/${offer.id}/allow-wallet`, body);
    expect(refused).toMatchObject({ status: 503, body: { code: 'upstream_unavailable' } });
    await settle();
    // The refused request did not consume the challenge.
    const given = await user.call('POST', `/v1/offers/${offer.id}/allow-wallet`, body);
    expect(given.body.object).toBe('allow_wallet_transaction');
    expect(await broadcast(given)).toBe('success');
  });

  test('is revoked when another user proves it, and stays allowed if that user is allowed', async () => {
    await allow();
    const other = await person(app, { userId: userId(5000 + count) });
    await putFacts(app.ctx, { userId: userId(5000 + count) });
    expect(await other.allow(offer.id, wallet)).toEqual({ status: 200, body: {} });
    await settle();
    expect([await states(), await authorized()]).toEqual([['expired', 'allowed'], true]);
    // The first user proves the wallet again by binding it. Binding does not put it on the allow-list.
    await user.bind(offer.id, offer.options[0]?.id ?? '', wallet);
    await settle();
    expect([await states(), await authorized()]).toEqual([['expired', 'revoked'], false]);
    expect((await eventsOf(userId(5000 + count))).map(([type]) => type)).toEqual([
      ...['wallet.allowed', 'wallet.revoked'],
    ]);
  });

  test('is revoked once by two nodes, and by the stored bytes after a crash before they were sent', async () => {
    await allow();
    await holdUser(app.ctx, id, 'a reason');
    await Promise.all([checkAllowed(app.ctx), checkAllowed(app.ctx)]);
    const crashing = saleWorker({ app });
    const { rpc } = crashing.worker.account.chain;
    crashing.worker.account.chain = {
      ...crashing.worker.account.chain,
      rpc: {
        ...rpc,
        requestAll: async () => {
          throw new Error('crash');
        },
      },
    };
    await crashing.round().catch(() => undefined);
    expect([await authorized(), await states()]).toEqual([true, ['revoking']]);
    await Promise.all([saleWorker({ app }).settle(), saleWorker({ app, node: 7 } as never).settle()]);
    await settle();
    expect([await states(), await authorized(), await nonce()]).toEqual([['revoked'], false, 1n]);
  });

  test('is revoked again after a reorganisation undid it, with one event', async () => {
    await allow();
    await holdUser(app.ctx, id, 'a reason');
    await checkAllowed(app.ctx);
    const { settle: run } = saleWorker({ app }, { timings: { resendSeconds: 0 } });
    await run();
    await run();
    expect([await states(), await authorized()]).toEqual([['revoked'], false]);
    await chain.chain.reorg({ depth: 1, transactions: 'drop' });
    expect(await authorized()).toBe(true);
    for (let i = 0; i < 3; i++) await run();
    expect([await authorized(), await nonce()]).toEqual([false, 1n]);
    expect((await eventsOf()).map(([type]) => type)).toEqual(['wallet.allowed', 'wallet.revoked']);
    const open = await app.ctx.db
      .selectFrom('allow_revocations')
      .select('id')
      .where('state', '<>', 'done')
      .execute();
    expect(open).toEqual([]);
  });

  test('stays on the queue with an alert while the operator lacks the role', async () => {
    await allow();
    const role = (functionName: 'grantRoles' | 'revokeRoles') =>
      chain.owner.writeContract({
        ...{ address: contract, abi: fundSwap.abi, functionName, args: [roles.operator.address, 2n] },
        gas: 200_000n,
      } as never);
    await role('revokeRoles');
    await holdUser(app.ctx, id, 'a reason');
    await checkAllowed(app.ctx);
    await saleWorker({ app }).settle();
    expect([await states(), await authorized()]).toEqual([['revoking'], true]);
    expect(await app.ctx.metrics.registry.metrics()).toMatch(
      /causeway_settlement_waiting\{[^}]*role_missing[^}]*\} 1/,
    );
    await role('grantRoles');
    await app.ctx.db.updateTable('allow_revocations').set({ send_at: '2000-01-01T00:00:00Z' }).execute();
    await settle();
    expect([await states(), await authorized()]).toEqual([['revoked'], false]);
  });

  test('is revoked although an older revocation is outside the policy of the key', async () => {
    await allow();
    const other = '0x00000000000000000000000000000000000000aa';
    await sql`insert into allow_revocations (id, chain, contract, wallet, inserted_at)
      values (gen_random_uuid(), 'ethereum_sepolia', ${other}, ${wallet.address}, '2000-01-01')`.execute(
      app.ctx.db,
    );
    await holdUser(app.ctx, id, 'a reason');
    await checkAllowed(app.ctx);
    const { chainId } = app.ctx.chains.evm('ethereum_sepolia');
    const limits = { targets: new Set([contract.toLowerCase()]), dailyFee: null, dailyAmounts: null };
    const signer = withPolicy(localSigner(Buffer.from(deriveSandboxKey('operator').slice(2), 'hex')), {
      ...{ policy: new Map([[chainId, limits]]), ledger: openSpendLedger(null, app.clock), clock: app.clock },
      hasRole: () => true,
    });
    const worker = saleWorker({ app }, { signer });
    await worker.settle();
    await chain.chain.mine(2);
    await worker.settle();
    expect([await states(), await authorized()]).toEqual([['revoked'], false]);
    expect(await app.ctx.metrics.registry.metrics()).toMatch(
      /causeway_settlement_waiting\{[^}]*signer_policy[^}]*\} 1/,
    );
    await sql`delete from allow_revocations where contract = ${other}`.execute(app.ctx.db);
  });

  test('is revoked before its user is erased', async () => {
    await allow();
    await expect(eraseUser(app.ctx, id, 'requested')).rejects.toMatchObject({ code: 'validation_failed' });
    expect(await states()).toEqual(['revoking']);
    await expect(eraseUser(app.ctx, id, 'requested')).rejects.toMatchObject({ code: 'validation_failed' });
    await settle();
    const { kept, keep_until } = await eraseUser(app.ctx, id, 'requested');
    expect(kept).toContain('allow-lists: wallets, offers and dates');
    expect(keep_until).not.toBeNull();
    expect(await authorized()).toBe(false);
  });
});

describe('an unused permission', () => {
  test('is void after a hold, even one that arrives after it was checked', async () => {
    const given = await user.allow(offer.id, wallet);
    await checkAllowed(app.ctx);
    await holdUser(app.ctx, id, 'a reason');
    await settle();
    expect(await broadcast(given)).toBe('reverted');
    expect([await states(), await authorized()]).toEqual([['revoked'], false]);
  });

  test('of an ended proof costs nothing unless it is used', async () => {
    const given = await user.allow(offer.id, wallet);
    await CAUSES['the removal of the wallet']?.();
    await settle();
    expect([await states(), await nonce()]).toEqual([['permitted'], 0n]);
    expect(await broadcast(given)).toBe('success');
    await settleVerifications(app.ctx);
    await settle();
    expect([await states(), await authorized()]).toEqual([['revoked'], false]);
  });
});
