import { sandboxKey } from '@causeway/sandbox/seed/keys.ts';
import type { Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { startTestChain, type TestChain } from '../../../test/support/chain.ts';
import { PERSON_KEY } from '../../../test/support/facts.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { USER } from '../../../test/support/tokens.ts';
import {
  evmWallet,
  type Person,
  person,
  proveWallets,
  type TestWallet,
} from '../../../test/support/wallets.ts';
import { factsOf, NO_DATA } from '../../kernel/model/personal-data.ts';
import type { Offer } from '../../platform/context/ports.ts';
import type { Eligibility } from '../eligibility/schema.ts';
import { releaseHold } from '../holdings/freeze.ts';
import { applyOffers } from '../offer-files/apply.ts';
import type { OfferFile } from '../offer-files/file-schema.ts';
import { sealPii } from '../pii/sealed-data.ts';
import { holdUser } from '../users/hold.ts';

let chain: TestChain;
let app: TestApp;
let user: Person;
let offer: Offer;
let fileWith: (...more: object[]) => OfferFile;
let count = 0;

const TAX_FORM = { type: 'document', details: { document_type: 'tax_certification' } };
const RISKS = {
  type: 'acknowledgement',
  details: {
    ...{ document: 'risks', name: 'Risks', url: 'https://issuer.test/risks.pdf' },
    ...{ version: '1', sha256: 'a'.repeat(64) },
  },
};

beforeAll(async () => {
  chain = await startTestChain();
  const node = await chain.addNode();
  app = await testApp({
    config: { supplierKey: sandboxKey('supplier'), rpcUrls: { ethereum_sepolia: [node.url] } },
  });
  user = await person(app);
  const [usdc] = chain.deployment.tokens;
  const contract = {
    ...{ chain: 'ethereum_sepolia', address: chain.deployment.fund_swap.address, allow_list: true },
    funding_tokens: [{ asset: 'usd-coin', address: usdc?.address }],
  };
  fileWith = (...more) =>
    saleFile({
      ...{ slug: 'asked', type: 'fund::swap', contracts: [contract] as never },
      options: [{ slug: 'standard', price_usd: '1', requirements: [TAX_FORM, ...more] }] as never,
    });
  offer = await makeOffer(app.ctx, fileWith());
});
afterAll(async () => {
  await app.close();
  await chain.close();
});

const fresh = () => evmWallet(`asked ${count++}`);

/** Stores or removes a signed tax form for the user. */
async function setForm(isSigned: boolean): Promise<void> {
  await app.ctx.db.deleteFrom('document_submissions').where('user_id', '=', USER).execute();
  if (!isSigned) return;
  const data = { ...NO_DATA, full_legal_name: 'Ada', date_of_birth: '1990-01-01', country: 'DE' };
  const sealed = sealPii(app.ctx.sealing, USER, data, factsOf(data, 'person', PERSON_KEY));
  await app.ctx.db
    .insertInto('pii')
    .values({ user_id: USER, ...sealed, version: 1, as_of: '2026-03-01T00:00:00Z' } as never)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await app.ctx.db
    .insertInto('document_submissions')
    .values({
      ...{ id: '01890000-0000-7000-8000-0000000000d1', user_id: USER, attempt: 1, pii_version: 1 },
      ...{ document_type: 'tax_certification', form_type: 'w8_ben', status: 'COMPLETED' },
      ...{ provider_submission_id: null, provider_submitter_id: null, lease_until: null },
      ...{ expires_at: '2027-01-01T00:00:00Z', completed_at: '2026-03-01T00:00:00Z' },
      ...{ claimed_at: '2026-03-01T00:00:00Z', due_at: '2027-01-01T00:00:00Z' },
      ...{ inserted_at: '2026-03-01T00:00:00Z', updated_at: '2026-03-01T00:00:00Z' },
    })
    .execute();
}

const body = (wallet: { address: string; chain: string }, signature: string) => ({
  ...{ chain: wallet.chain, wallet_address: wallet.address, signature },
});
const allow = (wallet: { address: string; chain: string }, signature: string, headers = {}) =>
  user.call('POST', `/v1/offers/${offer.id}/allow-wallet`, body(wallet, signature), headers);

/** Puts the wallet on the allow-list. */
async function admit(wallet: TestWallet): Promise<void> {
  const given = await user.allow(offer.id, wallet);
  const { to, data } = given.body as unknown as { to: Hex; data: Hex };
  const hash = await chain.owner.sendTransaction({ to, data, gas: 500_000n });
  await chain.direct.waitForTransactionReceipt({ hash });
}

describe('allow-wallet', () => {
  test('gives no permission while requirements are unmet, and the challenge survives the refusal', async () => {
    await setForm(false);
    const wallet = fresh();
    const signature = String(wallet.sign(await user.challenge(wallet)));
    const refused = await allow(wallet, signature);
    expect([refused.status, refused.body.code]).toEqual([403, 'requirements_not_met']);
    const id = offer.options[0]?.requirements[0]?.id ?? '';
    expect(refused.body.errors).toMatchObject({
      [id]: ['not_started'],
      checks: [{ object: 'check', code: 'document', requirement_id: id, status: 'action_needed' }],
    });
    await setForm(true);
    expect((await allow(wallet, signature)).body.object).toBe('allow_wallet_transaction');
  });

  test('gives an allowed wallet an empty object after the proof, whatever its requirements', async () => {
    await setForm(true);
    const wallet = fresh();
    await admit(wallet);
    await setForm(false);
    const signature = String(wallet.sign(await user.challenge(wallet)));
    const key = { 'idempotency-key': `allowed-${count++}` };
    expect(await allow(wallet, signature, key)).toEqual({ status: 200, body: {} });
    // A replay grants nothing.
    expect(await allow(wallet, signature, key)).toEqual({ status: 200, body: {} });
    const wrong = await allow(wallet, String(fresh().sign(await user.challenge(wallet))));
    expect(wrong.body.code).toBe('challenge_invalid');
  });

  test('is what the dry run asks for if only a sanctioned wallet is allowed', async () => {
    await setForm(true);
    const listed = fresh();
    await admit(listed);
    const allowList = async () => {
      const { body } = await user.call('GET', `/v1/offers/${offer.id}/eligibility`);
      const [option] = (body as unknown as Eligibility).options;
      return option?.checks.find(({ code }) => code === 'allow_list')?.status;
    };
    await app.ctx.db.deleteFrom('wallet_proofs').where('address', '<>', listed.address).execute();
    await proveWallets(app.ctx, [fresh().address]);
    expect(await allowList()).toBe('passed');
    const { has } = app.ctx.sanctions;
    app.ctx.sanctions.has = (each) => each === listed.address;
    expect(await allowList()).toBe('action_needed');
    app.ctx.sanctions.has = has;
  });

  test('never replays a permission to a user who has lost eligibility', async () => {
    await setForm(true);
    const wallet = fresh();
    const signature = String(wallet.sign(await user.challenge(wallet)));
    const key = { 'idempotency-key': `permission-${count++}` };
    const given = await allow(wallet, signature, key);
    expect(given.body.object).toBe('allow_wallet_transaction');
    expect(await allow(wallet, signature, key)).toEqual(given);
    await setForm(false);
    expect((await allow(wallet, signature, key)).body.code).toBe('requirements_not_met');
    await setForm(true);
    expect(await allow(wallet, signature, key)).toEqual(given);
  });

  test.each(['a hold', 'a lost form', 'a document to read'] as const)(
    'gives nothing when %s arrives while the supplier answers',
    async (what) => {
      await setForm(true);
      const wallet = fresh();
      const { verifyWallet } = app.ctx.supplier;
      const events = {
        'a hold': () => holdUser(app.ctx, USER, 'arrives in between'),
        'a lost form': () => setForm(false),
        'a document to read': () => applyOffers(app.ctx, [fileWith(RISKS)]),
      };
      app.ctx.supplier.verifyWallet = async (request) => {
        await events[what]();
        return verifyWallet(request);
      };
      try {
        const { status, body } = await user.allow(offer.id, wallet);
        expect([status, body.code]).toEqual([
          403,
          what === 'a hold' ? 'account_restricted' : 'requirements_not_met',
        ]);
      } finally {
        app.ctx.supplier.verifyWallet = verifyWallet;
        await releaseHold(app.ctx, USER, 'test');
        await applyOffers(app.ctx, [fileWith()]);
      }
      const rows = await app.ctx.db
        .selectFrom('allow_verifications')
        .selectAll()
        .where('wallet', '=', wallet.address)
        .execute();
      expect(rows).toEqual([]);
    },
  );
});
