import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles, testWallets } from '@causeway/sandbox/seed/keys.ts';
import type { ChainDeployment } from '@causeway/sandbox/simulators/chains/deploy.ts';
import { createWalletClient, custom, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { keccak256, toHex } from 'viem/utils';
import { expect } from 'vitest';
import type { Offer } from '../../src/offers/catalogue.ts';
import type { Pace } from '../../src/operator/follow.ts';
import { deriveSandboxKey } from '../../src/operator/sandbox-keys.ts';
import type { Signer } from '../../src/operator/signer.ts';
import { type AlertGauges, createAlertGauges } from '../../src/settlement/alerts.ts';
import { type Round, runRound } from '../../src/settlement/round.ts';
import { createWorker, PACE } from '../../src/settlement/settlement.ts';
import { type TestApp, testApp } from './app.ts';
import { startTestChain, type TestChain, type TestNode } from './chain.ts';
import { makeOffer, saleFile } from './offers.ts';
import { type Person, person } from './wallets.ts';

export const UNIT = 1_000_000n;

export type Buyer = { address: Hex; approve(amount: bigint, change?: Partial<Approve>): Promise<Hex> };

type Approve = { token: Hex; spender: Hex; gas: bigint };

export type Sale = {
  app: TestApp;
  chain: TestChain;
  node: TestNode;
  offer: Offer;
  option: string;
  fund: Hex;
  usdc: Hex;
  usdt: Hex;
  person: Person;
  /** Wallets with gas and dollars. */
  buyers: Buyer[];
  buyer(index: number): Buyer;
  /** A request that is good once `hash` is an approval of it. */
  request(buyer: { address: string }, amount: bigint, hash: Hex): Record<string, string>;
  /** Approves and takes part. */
  participate(buyer: Buyer, amount: bigint): Promise<{ id: string; status: string; hash: Hex }>;
  statusOf(id: string): Promise<string>;
  reasonOf(id: string): Promise<string | null>;
  eventsOf(id: string): Promise<string[]>;
  /** What the fund holds of a buyer. */
  totalsOf(address: Hex): Promise<{ count: bigint; sum: bigint; remitted: bigint }>;
  close(): Promise<void>;
};

/** A token sale on a real chain, with the application in front of it and no worker: tests run the rounds. */
export async function startSale(): Promise<Sale> {
  const chain = await startTestChain();
  const node = await chain.addNode();
  const app = await testApp({
    config: {
      rpcUrls: { ethereum_sepolia: [node.url] },
      operatorKey: { kind: 'local', privateKey: Buffer.from(deriveSandboxKey('operator').slice(2), 'hex') },
    },
  });
  const fund = chain.deployment.sale_funds.open;
  const tokenOf = (id: string) =>
    chain.deployment.tokens.find(({ asset_id }) => asset_id === id)?.address ?? '0x';
  const [usdc, usdt] = [tokenOf('usd-coin'), tokenOf('tether')];
  const offer = await makeOffer(app.ctx, saleOfferFile(chain.deployment));
  const option = offer.options[0]?.id ?? '';
  const user = await person(app);
  const buyers = testWallets
    .filter(({ protocol }) => protocol === 'ethereum')
    .map(({ private_key }) =>
      buyer(chain, private_key as Hex, { token: usdc, spender: fund, gas: 100_000n }),
    );
  const request: Sale['request'] = ({ address }, amount, hash) => ({
    offer_id: offer.id,
    offer_option_id: option,
    chain: 'ethereum_sepolia',
    wallet_address: address,
    amount: String(amount),
    asset_id: 'usd-coin',
    approval_transaction_hash: hash,
  });
  const buyerAt = (index: number): Buyer => {
    const found = buyers[index];
    if (found === undefined) throw new Error('no such buyer');
    return found;
  };
  const read = async (id: string) =>
    app.ctx.db.selectFrom('participations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  return {
    ...{ app, chain, node, offer, option, fund, usdc, usdt, person: user, buyers, request },
    buyer: buyerAt,
    participate: async (who, amount) => {
      const hash = await who.approve(amount);
      const { status, body } = await user.call('POST', '/v1/participations', request(who, amount, hash));
      if (status !== 200) throw new Error(JSON.stringify(body));
      return { id: String(body.id), status: String(body.status), hash };
    },
    statusOf: async (id) => (await read(id)).status,
    reasonOf: async (id) => (await read(id)).reason,
    eventsOf: async (id) => {
      const rows = await app.ctx.db
        .selectFrom('events')
        .select(['type', 'data'])
        .orderBy('written')
        .execute();
      return rows.filter(({ data }) => data.id === id).map(({ type }) => type.replace('participation.', ''));
    },
    totalsOf: async (address) => {
      const args = [address, keccak256(toHex(option)), usdc] as const;
      const [count, sum, , remitted] = (await chain.direct.readContract({
        ...{ address: fund, abi: saleFund.abi, functionName: 'totals', args },
      })) as unknown as bigint[];
      return { count: count ?? 0n, sum: sum ?? 0n, remitted: remitted ?? 0n };
    },
    close: async () => {
      await app.close();
      await chain.close();
    },
  };
}

/** The open sale, for dollars of two kinds. */
export function saleOfferFile({ sale_funds, tokens }: ChainDeployment) {
  const tokenOf = (id: string) => tokens.find(({ asset_id }) => asset_id === id)?.address ?? '0x';
  return saleFile({
    funding_assets: ['usd-coin', 'tether'],
    options: [{ slug: 'open' }, { slug: 'large', minimum_purchase_usd: '100.50' }] as never,
    contracts: [
      {
        chain: 'ethereum_sepolia',
        address: sale_funds.open,
        funding_tokens: [
          { asset: 'usd-coin', address: tokenOf('usd-coin') },
          { asset: 'tether', address: tokenOf('tether') },
        ],
      },
    ] as never,
    assets: {
      harbour: { code: 'HBR', name: 'Harbour', fractional_digits: 18, transfers: 'exact' },
      'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6, transfers: 'exact' },
      tether: { code: 'USDT', name: 'Tether', fractional_digits: 6, transfers: 'exact' },
    },
  });
}

function buyer(chain: TestChain, key: Hex, usual: Approve): Buyer {
  const account = privateKeyToAccount(key);
  const client = createWalletClient({ account, chain: sepolia, transport: custom(chain.chain) });
  return {
    address: account.address.toLowerCase() as Hex,
    approve: async (amount, change = {}) => {
      const { token: address, spender, gas } = { ...usual, ...change };
      return client.writeContract({
        ...{ address, abi: token.abi, functionName: 'approve', args: [spender, amount], gas },
      });
    },
  };
}

/** A worker whose rounds are run by hand. */
export function saleWorker(
  { app }: Sale,
  change: { pace?: Partial<Pace>; node?: number; signer?: Signer; refundDepth?: number } = {},
) {
  const { ctx } = app;
  const signer = change.signer ?? ctx.operator;
  if (signer === null) throw new Error('no operator');
  const gauges = gaugesOf(app);
  const chain = ctx.chains.evm('ethereum_sepolia');
  const worker = createWorker(
    { ...ctx, node: change.node ?? ctx.node },
    { ...chain, facts: { ...chain.facts, refundDepth: change.refundDepth ?? chain.facts.refundDepth } },
    signer,
    gauges,
    { ...PACE, ...change.pace },
  );
  return {
    worker,
    round: () => runRound(worker),
    /** Until nothing more can be done now. */
    settle: async (): Promise<Round> => {
      for (let i = 0; i < 20; i++) {
        await ctx.db.updateTable('participations').set({ check_at: '2000-01-01T00:00:00Z' }).execute();
        const round = await runRound(worker);
        if (round !== 'busy') return round;
      }
      return 'busy';
    },
  };
}

const HIGH = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };

/** A transfer of nothing, by whoever else has the operator's key. */
export async function useKeyElsewhere({ chain }: Sale, nonce?: number): Promise<Hex> {
  const transport = custom(chain.chain);
  const stranger = createWalletClient({ account: roles.operator, chain: sepolia, transport });
  const call = { to: roles.operator.address, value: 0n, gas: 21_000n, ...HIGH };
  return stranger.sendTransaction({ ...call, ...(nonce !== undefined && { nonce }) });
}

const TAKEN = ['completed', 'remit_submitted', 'remitted', 'remit_failed'];

/** What the database has taken and given back, in USDC and of each buyer, against what the fund has. */
export async function expectBooksToAgree({ app, buyers, totalsOf }: Sale): Promise<void> {
  for (const { address } of buyers) {
    const rows = await app.ctx.db
      .selectFrom('participations')
      .select(['amount', 'status'])
      .where('wallet_address', '=', address)
      .where('asset_id', '=', 'usd-coin')
      .execute();
    const sumOf = (some: typeof rows) => some.reduce((total, { amount }) => total + BigInt(amount), 0n);
    const taken = rows.filter(({ status }) => TAKEN.includes(status));
    const remitted = sumOf(rows.filter(({ status }) => status === 'remitted'));
    const inBooks = { count: BigInt(taken.length), sum: sumOf(taken), remitted };
    expect({ address, ...(await totalsOf(address)) }).toEqual({ address, ...inBooks });
  }
}

const known = new WeakMap<TestApp, AlertGauges>();

function gaugesOf(app: TestApp): AlertGauges {
  const gauges = known.get(app) ?? createAlertGauges(app.ctx.metrics.registry);
  known.set(app, gauges);
  return gauges;
}
