import { setTimeout as sleep } from 'node:timers/promises';
import { token } from '@causeway/contracts/abi/token.ts';
import { sandboxKey } from '@causeway/sandbox/seed/keys.ts';
import { sql } from 'kysely';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Eligibility } from '../src/domain/eligibility/schema.ts';
import { releaseHold } from '../src/domain/holdings/freeze.ts';
import { alertRestricted } from '../src/domain/tokenized/restricted-orders.ts';
import { holdUser } from '../src/domain/users/hold.ts';
import { checkAllowed } from '../src/domain/wallets/allowed-check.ts';
import type { Offer } from '../src/platform/context/ports.ts';
import { testConfig } from './support/app.ts';
import { putFacts } from './support/facts.ts';
import { makeOffer, saleFile } from './support/offers.ts';
import { saleWorker } from './support/sale.ts';
import { partnerOf, USER } from './support/tokens.ts';
import { appleFile, startTokenizedWorld, type TokenizedWorld } from './support/venue.ts';
import { type Answer, evmWallet, proveWallets, type TestWallet } from './support/wallets.ts';

/**
 * Tests every gate of the API (a request that checks the user's eligibility) over HTTP, with every fact that
 * eligibility depends on. `mustRefuse` repeats the rules of `decide.test.ts` on purpose, so that the test fails if a
 * gate skips a check.
 */

let world: TokenizedWorld;
let sale: Offer;
let fund: Offer;
let stock: Offer;
let wallet: TestWallet & { key: Hex };
let count = 0;

const REQUIREMENTS = [
  { type: 'identity_verification' },
  { type: 'kyc_approved' },
  { type: 'accreditation' },
  { type: 'external_wallet', details: { protocol: 'ethereum' } },
  { type: 'document', details: { document_type: 'tax_certification' } },
  { type: 'jurisdiction', details: { filter_type: 'reject', filters: [{ country_iso_2: 'FR' }] } },
];
const AMOUNT = 5_000_000n;

beforeAll(async () => {
  const limits = { ...testConfig().limits, tokenized_transaction: 1_000_000, wallet_ownership: 1_000_000 };
  world = await startTokenizedWorld({ supplierKey: sandboxKey('supplier'), limits });
  world.venue.state.session = 'regular';
  const { ctx } = world.app;
  const { deployment } = world.chain;
  const key = world.wallet.key;
  const account = privateKeyToAccount(key);
  wallet = {
    ...{ key, address: account.address.toLowerCase(), chain: 'ethereum_sepolia' },
    sign: (message) => account.signMessage({ message }),
  };
  const options = [{ slug: 'standard', price_usd: '1', requirements: REQUIREMENTS }] as never;
  const on = (address: Hex, more: object) =>
    [
      {
        ...{ chain: 'ethereum_sepolia', address, ...more },
        funding_tokens: [{ asset: 'usd-coin', address: world.usdc }],
      },
    ] as never;
  sale = await makeOffer(
    ctx,
    saleFile({ slug: 'sale', options, contracts: on(deployment.sale_funds.open, {}) }),
  );
  fund = await makeOffer(
    ctx,
    saleFile({
      ...{ slug: 'fund', type: 'fund::swap', options },
      contracts: on(deployment.fund_swap.address, { allow_list: true }),
    }),
  );
  const [asset] = world.deployment.assets.slice(1);
  stock = await makeOffer(
    ctx,
    appleFile(world.deployment, world.usdc, {
      ...{ slug: 'stock', symbol: String(asset?.symbol), options },
      contracts: on(world.deployment.swap, {
        asset_address: asset?.address,
        allow_list: false,
        domain_name: null,
      }),
    }),
  );
  await approve();
}, 120_000);
afterAll(() => world.close());

const approvals: Hex[] = [];
async function approve(): Promise<void> {
  const { sale_funds } = world.chain.deployment;
  await world.call(wallet.key, world.usdc, token, 'approve', [sale_funds.open, AMOUNT * 100n]);
  const block = await world.chain.direct.getBlock();
  approvals.push(...block.transactions);
}

/** Stores facts that make every gate accept the user. */
async function makeEligible(): Promise<void> {
  const { ctx } = world.app;
  await releaseHold(ctx, USER, 'test');
  await putFacts(ctx);
  await proveWallets(ctx, [wallet.address]);
  for (const offer of [sale, fund, stock])
    await sql`insert into option_addresses (id, option_id, user_id, protocol, address, partner_id, proved_chain, proved_at,
        created_at)
      values (gen_random_uuid(), ${offer.options[0]?.id}, ${USER}, 'ethereum', ${wallet.address},
        ${partnerOf('partner-one')}, 'ethereum_sepolia', now(), now())
      on conflict (option_id, address) do nothing`.execute(ctx.db);
  await sql`delete from tokenized_orders`.execute(ctx.db);
  await sql`delete from participations`.execute(ctx.db);
}
beforeEach(makeEligible);

const db = () => world.app.ctx.db;
const unbind = () => sql`delete from option_addresses where user_id = ${USER}`.execute(db());
const facts = (change: Parameters<typeof putFacts>[1]) => () => putFacts(world.app.ctx, change);
async function changeOffers(column: 'ends_at', value: string | null): Promise<void> {
  await sql`update offers set ${sql.ref(column)} = ${value}`.execute(db());
  const known = async () =>
    (await world.app.ctx.offers.of(partnerOf('partner-one'))).byKey.get(sale.id)?.ends_at ?? null;
  while ((await known()) !== value) await sleep(2);
}

type Fault = { code: string; make(): Promise<unknown>; undo?(): Promise<unknown> | unknown };
/** For each fact, one way to make the user ineligible, and the expected error code. */
const FAULTS: Record<string, Fault> = {
  account: { code: 'account_restricted', make: () => holdUser(world.app.ctx, USER, 'a reason') },
  sanctions: {
    code: 'wallet_sanctioned',
    make: async () => {
      world.app.ctx.sanctions.has = (each) => each === wallet.address;
    },
    undo: () => {
      world.app.ctx.sanctions.has = () => false;
    },
  },
  country_policy: { code: 'requirements_not_met', make: facts({ country: 'KP' }) },
  identity_verification: {
    code: 'requirements_not_met',
    make: facts({ reviews: { Sorting_KYC_Level: null } }),
  },
  kyc_approved: { code: 'requirements_not_met', make: facts({ reviews: { BasicKYCLevel: 'pending' } }) },
  accreditation: {
    code: 'requirements_not_met',
    make: facts({ reviews: { AccreditationIndividual_FullVerification: 'RETRY' } }),
  },
  final_rejection: {
    code: 'requirements_not_met',
    make: facts({ reviews: { AccreditationIndividual_FullVerification: 'FINAL' } }),
  },
  deactivation: { code: 'requirements_not_met', make: facts({ isActive: false }) },
  document: { code: 'requirements_not_met', make: facts({ hasForm: false }) },
  jurisdiction: { code: 'requirements_not_met', make: facts({ country: 'FR' }) },
  external_wallet: { code: 'requirements_not_met', make: unbind },
  other_wallet: {
    code: 'validation_failed',
    make: () =>
      sql`update option_addresses set address = ${evmWallet('other').address} where user_id = ${USER}`.execute(
        db(),
      ),
    undo: unbind,
  },
  wallet_proof: { code: 'wallet_not_proven', make: () => sql`delete from wallet_proofs`.execute(db()) },
  offer_window: {
    code: 'offer_ended',
    make: () => changeOffers('ends_at', '2026-01-01T00:00:00.000000Z'),
    undo: () => changeOffers('ends_at', null),
  },
};

type Gate = { call(key: string): Promise<Answer>; mustRefuse: string };
const RULES =
  'country_policy identity_verification kyc_approved accreditation final_rejection deactivation document jurisdiction';
const post = (path: string, body: object, key: string) =>
  world.user.call('POST', path, body, { 'idempotency-key': key });
/** The signature for each idempotency key. It is reused, because a refused request leaves its challenge open. */
const signatures = new Map<string, string>();
async function sign(key: string): Promise<string> {
  const signature = signatures.get(key) ?? String(await wallet.sign(await world.user.challenge(wallet)));
  signatures.set(key, signature);
  return signature;
}

const GATES: Record<string, Gate> = {
  bind: {
    mustRefuse: 'account sanctions offer_window',
    call: async (key) =>
      post(
        `/v1/offers/${fund.id}/addresses`,
        {
          ...{ chain: wallet.chain, wallet_address: wallet.address, signature: await sign(key) },
          offer_option_id: fund.options[0]?.id,
        },
        key,
      ),
  },
  'allow-wallet': {
    mustRefuse: `account sanctions offer_window ${RULES}`,
    call: async (key) =>
      post(
        `/v1/offers/${fund.id}/allow-wallet`,
        { chain: wallet.chain, wallet_address: wallet.address, signature: await sign(key) },
        key,
      ),
  },
  participation: {
    mustRefuse: `account sanctions offer_window ${RULES} external_wallet other_wallet wallet_proof`,
    call: (key) =>
      post(
        '/v1/participations',
        {
          ...{ offer_id: sale.id, offer_option_id: sale.options[0]?.id, chain: wallet.chain },
          ...{ wallet_address: wallet.address, amount: String(AMOUNT), asset_id: 'usd-coin' },
          approval_transaction_hash: approvals[0],
        },
        key,
      ),
  },
  order: {
    mustRefuse: `account sanctions offer_window ${RULES} external_wallet other_wallet wallet_proof`,
    call: (key) =>
      post(
        '/v1/tokenized/swap/transaction',
        { amount: '1005000000', chain: wallet.chain, symbol: stock.symbol, wallet_address: wallet.address },
        key,
      ),
  },
};
const cells = Object.keys(GATES).flatMap((gate) => Object.keys(FAULTS).map((fault) => ({ gate, fault })));
const cellOf = (gate: string, fault: string) => ({
  gate: GATES[gate] as Gate,
  fault: FAULTS[fault] as Fault,
});

describe('a gate', () => {
  test.each(cells)('$gate with $fault', async (names) => {
    const { gate, fault } = cellOf(names.gate, names.fault);
    const key = `cell-${count++}`;
    // Requests the challenge before the user becomes ineligible, because an account on hold gets no
    // challenge.
    if (names.gate === 'bind' || names.gate === 'allow-wallet') await sign(key);
    await fault.make();
    try {
      const answer = await gate.call(key);
      if (gate.mustRefuse.split(' ').includes(names.fault)) expect(answer.body.code).toBe(fault.code);
      else expect(answer).toMatchObject({ status: 200 });
      const invested = { participation: sale, order: stock }[names.gate];
      if (invested !== undefined) await expectDryRun(invested, answer);
    } finally {
      await fault.undo?.();
    }
  });

  /** The dry run must report the same decision as the gate, check by check. */
  async function expectDryRun({ id }: Offer, { status, body }: Answer): Promise<void> {
    const query = `chain=${wallet.chain}&wallet_address=${wallet.address}`;
    const shown = await world.user.call('GET', `/v1/offers/${id}/eligibility?${query}`);
    const { eligible, options } = shown.body as unknown as Eligibility;
    expect(eligible).toBe(status === 200);
    const failed = options[0]?.checks.filter((check) => check.status !== 'passed');
    expect(failed).toEqual((body.errors as { checks?: unknown } | undefined)?.checks ?? []);
  }

  test.each(Object.keys(GATES))('%s accepts a user without any fault', async (name) => {
    expect(await GATES[name]?.call(`cell-${count++}`)).toMatchObject({ status: 200 });
  });
});

/** A stored reply is repeated only for a user who is still eligible. */
describe('a replay', () => {
  const REPLAYS: Record<string, string> = {
    'allow-wallet': `account sanctions ${RULES} wallet_proof`,
    order: `${GATES.order?.mustRefuse}`,
  };
  const replays = cells.filter(({ gate }) => gate in REPLAYS);
  test.each(replays)('of $gate with $fault', async (names) => {
    const { gate, fault } = cellOf(names.gate, names.fault);
    const key = `replay-${count++}`;
    const given = await gate.call(key);
    expect(given.status).toBe(200);
    await fault.make();
    try {
      const again = await gate.call(key);
      if (REPLAYS[names.gate]?.split(' ').includes(names.fault)) {
        expect(again.body.code).toBe(fault.code);
        expect(again.body.data).toBeUndefined();
      } else expect(again).toEqual(given);
    } finally {
      await fault.undo?.();
    }
  });
});

describe('a commit', () => {
  const mustRefuse = `account sanctions ${RULES} external_wallet other_wallet wallet_proof`.split(' ');
  test.each(Object.keys(FAULTS))('with %s', async (name) => {
    const fault = FAULTS[name] as Fault;
    const { body } = await (GATES.participation as Gate).call(`commit-${count++}`);
    expect(body.status).toBe('pending');
    await fault.make();
    try {
      await saleWorker({ app: world.app }).settle();
      const { commit_id } = await db()
        .selectFrom('participations')
        .select('commit_id')
        .where('id', '=', String(body.id))
        .executeTakeFirstOrThrow();
      expect(commit_id === null).toBe(mustRefuse.includes(name));
    } finally {
      await fault.undo?.();
    }
  });
});

/**
 * The user becomes ineligible while the request runs. Either the request is refused, or its reply has no effect or
 * causes an alert.
 */
describe('a race', () => {
  const settle = () => saleWorker({ app: world.app }).settle();
  /**
   * Checks that whatever a gate issued before the user became ineligible has no effect afterwards or causes an alert.
   */
  const HARMLESS: Record<string, (answer: Answer, fault: string) => Promise<void>> = {
    'allow-wallet': async ({ body }) => {
      await checkAllowed(world.app.ctx);
      await settle();
      const call = { from: wallet.address, to: body.to, data: body.data };
      const used = world.chain.chain.request({ method: 'eth_call', params: [call, 'latest'] });
      await expect(used).rejects.toThrow('execution reverted');
      await world.chain.chain.mine(2);
      await settle();
    },
    participation: async ({ body }) => {
      await settle();
      const row = await db()
        .selectFrom('participations')
        .select(['status', 'frozen_reason', 'commit_id'])
        .where('id', '=', String(body.id))
        .executeTakeFirstOrThrow();
      expect(row.commit_id).toBeNull();
      expect(row.status === 'failed' || row.frozen_reason !== null).toBe(true);
    },
    order: async (_answer, fault) => {
      // The calldata in the reply cannot be recalled, so the wallet can still send it. Operators get an alert instead.
      expect(await alertRestricted(world.app.ctx)).toBe(fault === 'final_rejection' ? 0 : 1);
    },
  };
  const stored = async () => ({
    participations: (await db().selectFrom('participations').select('id').execute()).length,
    live: (await db().selectFrom('tokenized_orders').select('id').where('state', '=', 'live').execute())
      .length,
    permitted: (
      await db().selectFrom('allow_verifications').select('id').where('state', '=', 'permitted').execute()
    ).length,
  });

  const races = Object.keys(HARMLESS).flatMap((gate) =>
    ['account', 'sanctions', 'final_rejection'].map((fault) => ({ gate, fault })),
  );
  test.each(['account', 'sanctions', 'final_rejection'])('of a commit and %s', async (name) => {
    const fault = FAULTS[name] as Fault;
    const { body } = await (GATES.participation as Gate).call(`commit-${count++}`);
    expect(body.status).toBe('pending');
    const operator = world.app.ctx.signerOf('commit', 'ethereum_sepolia');
    if (operator === null) throw new Error('no operator');
    const signer = {
      ...operator,
      // Makes the user ineligible at the last moment before the signed bytes are stored.
      signTransaction: async (call: Parameters<typeof operator.signTransaction>[0]) => {
        const signed = await operator.signTransaction(call);
        await fault.make();
        return signed;
      },
    };
    try {
      await saleWorker({ app: world.app }, { signer }).settle();
      await HARMLESS.participation?.({ status: 200, body }, name);
    } finally {
      await fault.undo?.();
    }
  });

  test.each(races)('of $gate and $fault', async (names) => {
    const { gate, fault } = cellOf(names.gate, names.fault);
    const outcomes = new Set<number>();
    for (const delayMs of [0, 3, 6, 12, 25, 60]) {
      await makeEligible();
      await sql`delete from allow_verifications`.execute(db());
      const key = `race-${count++}`;
      if (names.gate === 'allow-wallet') await sign(key);
      const [answer] = await Promise.all([gate.call(key), sleep(delayMs).then(() => fault.make())]);
      outcomes.add(answer.status);
      if (answer.status === 200) await HARMLESS[names.gate]?.(answer, names.fault);
      else {
        expect(answer.body.code).toBe(fault.code);
        expect(await stored()).toEqual({ participations: 0, live: 0, permitted: 0 });
      }
      await fault.undo?.();
    }
    expect([...outcomes].every((status) => status === 200 || status === 403)).toBe(true);
  });
});
