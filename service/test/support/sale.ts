import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { testWallets } from '@causeway/sandbox/seed/keys.ts';
import type { ChainDeployment } from '@causeway/sandbox/simulators/chains/deploy.ts';
import { createWalletClient, custom, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { keccak256, toHex } from 'viem/utils';
import { type AlertGauges, createAlertGauges } from '../../src/domain/settlement/alerts.ts';
import { createEvmWorker } from '../../src/domain/settlement/evm-driver.ts';
import { type Round, runRound } from '../../src/domain/settlement/round.ts';
import { FOLLOW_TIMINGS } from '../../src/domain/settlement/settlement.ts';
import type { Config } from '../../src/kernel/config/config.ts';
import type { SendingRole } from '../../src/kernel/config/role.ts';
import { deriveSandboxKey } from '../../src/kernel/config/sandbox-keys.ts';
import type { Offer } from '../../src/platform/context/ports.ts';
import type { FollowTimings } from '../../src/platform/operator/follow.ts';
import type { Signer } from '../../src/platform/operator/signer.ts';
import { START, type TestApp, testApp, testConfig } from './app.ts';
import { startTestChain, type TestChain, type TestNode } from './chain.ts';
import { makeOffer, saleFile } from './offers.ts';
import { type Person, person, proveWallets } from './wallets.ts';

/** One USDC in its smallest unit. */
export const UNIT = 1_000_000n;

export type Buyer = { address: Hex; approve(amount: bigint, change?: Partial<ApproveOptions>): Promise<Hex> };

type ApproveOptions = { token: Hex; spender: Hex; gas: bigint };

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
  /** Wallets that hold ether and stablecoins. */
  buyers: Buyer[];
  buyer(index: number): Buyer;
  /** Builds a request that is valid if `hash` is an approval of the amount. */
  request(buyer: { address: string }, amount: bigint, hash: Hex): Record<string, string>;
  /** Approves the amount, or `approved` instead, and creates a participation. */
  participate(
    buyer: Buyer,
    amount: bigint,
    approved?: bigint,
  ): Promise<{ id: string; status: string; hash: Hex }>;
  statusOf(id: string): Promise<string>;
  reasonOf(id: string): Promise<string | null>;
  eventsOf(id: string): Promise<string[]>;
  /** Reads the fund's totals for a buyer. */
  totalsOf(address: Hex): Promise<{ count: bigint; sum: bigint; remitted: bigint }>;
  /** Stops mining, so that transactions stay pending until `mine` or `resumeMining` is called. */
  pauseMining(): void;
  resumeMining(): void;
  mine(blocks: number): Promise<unknown>;
  close(): Promise<void>;
};

export type SaleOptions = {
  config?: Partial<Config>;
  /** Returns the RPC URL of the first provider, given the URL of a node. Default: the node itself. */
  firstUrl?(nodeUrl: string): Promise<string>;
  /** Returns the RPC URLs of further providers. */
  moreUrls?(chain: TestChain): Promise<string[]>;
  /** Deploys another fund for the sale. Default: the sandbox's fund that is called `open`. */
  makeFund?(chain: TestChain): Promise<Hex>;
};

/**
 * Starts a token sale on a real chain, with the API but no settlement worker: tests run the settlement rounds
 * themselves.
 */
export async function startSale(options: SaleOptions = {}): Promise<Sale> {
  let now = START;
  const chain = await startTestChain('ethereum_sepolia', false, () => Math.floor(now / 1000));
  const node = await chain.addNode();
  const firstUrl = (await options.firstUrl?.(node.url)) ?? node.url;
  const moreUrls = (await options.moreUrls?.(chain)) ?? [];
  const app = await testApp({
    config: {
      ...options.config,
      rpcUrls: { ethereum_sepolia: [`${firstUrl}#provider=first`, ...moreUrls] },
      operatorKey: { kind: 'local', privateKey: Buffer.from(deriveSandboxKey('operator').slice(2), 'hex') },
    },
  });
  app.clock.advance = (seconds) => {
    now += seconds * 1000;
    app.clock.set(now);
  };
  const fund = (await options.makeFund?.(chain)) ?? chain.deployment.sale_funds.open;
  const tokenOf = (id: string) =>
    chain.deployment.tokens.find(({ asset_id }) => asset_id === id)?.address ?? '0x';
  const [usdc, usdt] = [tokenOf('usd-coin'), tokenOf('tether')];
  const offer = await makeOffer(app.ctx, saleOfferFile(chain.deployment, fund));
  const option = offer.options[0]?.id ?? '';
  const user = await person(app);
  const buyers = testWallets
    .filter(({ protocol }) => protocol === 'ethereum')
    .map(({ private_key }) =>
      buyer(chain, private_key as Hex, { token: usdc, spender: fund, gas: 100_000n }),
    );
  await proveWallets(
    app.ctx,
    buyers.map(({ address }) => address),
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
    if (found === undefined) throw new Error(`there is no buyer ${index}`);
    return found;
  };
  const read = async (id: string) =>
    app.ctx.db.selectFrom('participations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  return {
    ...{ app, chain, node, offer, option, fund, usdc, usdt, person: user, buyers, request },
    buyer: buyerAt,
    participate: async (participant, amount, approved = amount) => {
      const hash = await participant.approve(approved);
      const { status, body } = await user.call(
        'POST',
        '/v1/participations',
        request(participant, amount, hash),
      );
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
    pauseMining: () => chain.chain.setBlockInterval(1e8),
    resumeMining: () => chain.chain.setBlockInterval(0),
    mine: (blocks) => chain.chain.mine(blocks),
    close: async () => {
      await app.close();
      await chain.close();
    },
  };
}

/** The offer file of a sale that accepts USDC and USDT. */
export function saleOfferFile({ sale_funds, tokens }: ChainDeployment, fund = sale_funds.open) {
  const tokenOf = (id: string) => tokens.find(({ asset_id }) => asset_id === id)?.address ?? '0x';
  return saleFile({
    funding_assets: ['usd-coin', 'tether'],
    options: [{ slug: 'open' }, { slug: 'large', minimum_purchase_usd: '100.50' }] as never,
    contracts: [
      {
        chain: 'ethereum_sepolia',
        address: fund,
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

function buyer(chain: TestChain, key: Hex, defaults: ApproveOptions): Buyer {
  const account = privateKeyToAccount(key);
  const client = createWalletClient({ account, chain: sepolia, transport: custom(chain.chain) });
  return {
    address: account.address.toLowerCase() as Hex,
    approve: async (amount, change = {}) => {
      const { token: address, spender, gas } = { ...defaults, ...change };
      return client.writeContract({
        ...{ address, abi: token.abi, functionName: 'approve', args: [spender, amount], gas },
      });
    },
  };
}

/** Creates a settlement worker whose rounds the test runs itself. */
export function saleWorker(
  { app }: Pick<Sale, 'app'>,
  change: {
    timings?: Partial<FollowTimings>;
    node?: number;
    signer?: Signer;
    refundDepth?: number;
    roles?: readonly SendingRole[];
  } = {},
) {
  const { ctx } = app;
  const signer = change.signer ?? ctx.signerOf('commit', 'ethereum_sepolia');
  if (signer === null) throw new Error('the app has no operator key');
  const gauges = gaugesOf(app);
  const chain = ctx.chains.evm('ethereum_sepolia');
  const worker = createEvmWorker(
    { ...ctx, node: change.node ?? ctx.node },
    { ...chain, facts: { ...chain.facts, refundDepth: change.refundDepth ?? chain.facts.refundDepth } },
    signer,
    gauges,
    { ...FOLLOW_TIMINGS, ...change.timings },
    change.roles,
  );
  return {
    worker,
    round: () => runRound(worker),
    /** Runs rounds until nothing more can be done without new blocks. */
    settle: async (): Promise<Round> => {
      for (let i = 0; i < 20; i++) {
        await ctx.db.updateTable('participations').set({ check_at: '2000-01-01T00:00:00Z' }).execute();
        for (const funds of Object.values(worker.skippedFunds)) funds.clear();
        const round = await runRound(worker);
        if (round !== 'busy') return round;
      }
      return 'busy';
    },
  };
}

const gaugesByApp = new WeakMap<TestApp, AlertGauges>();

/** Returns the alert gauges of an app. They are cached, because a registry accepts a metric only once. */
export function gaugesOf(app: TestApp): AlertGauges {
  const gauges = gaugesByApp.get(app) ?? createAlertGauges(app.ctx.metrics.registry);
  gaugesByApp.set(app, gauges);
  return gauges;
}

/** Returns a configuration for commands that use the sale's database and node. */
export async function commandConfig({
  app,
  node,
}: Pick<Sale, 'app'> & Partial<Pick<Sale, 'node'>>): Promise<Config> {
  const { rows } = await app.ctx.pool.query('select current_database() as name');
  const url = new URL(String(app.ctx.pool.options.connectionString));
  url.pathname = `/${rows[0].name}`;
  const rpcUrls = node === undefined ? {} : { ethereum_sepolia: [node.url] };
  return { ...testConfig(), databaseUrl: url.href, rpcUrls };
}
