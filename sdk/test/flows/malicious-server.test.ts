import type { Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allowListAbi } from '../../src/flows/abi.ts';
import {
  allowWallet,
  buyTokenized,
  buyTokenSale,
  type FlowError,
  swapFund,
  type TrustedContracts,
  verifyCalldata,
} from '../../src/flows/index.ts';
import type { TestWallet } from '../../src/testing/index.ts';
import type { OfferDetails, TokenizedSwapTransaction } from '../../src/wire.ts';
import { CHAIN, failureOf, optionOf, QUICK, recordsCalls, type Sandbox, startSandbox } from './sandbox.ts';

const THIEF = `0x${'d1'.repeat(20)}` as const;
const AMOUNT = 100_500_000n;

let sandbox: Sandbox;
let causeway: Awaited<ReturnType<Sandbox['newUser']>>;
let wallet: TestWallet;
/** The methods that were called on the wallet. */
const calls: string[] = [];
let trusted: TrustedContracts;
let sale: OfferDetails;
let fund: OfferDetails;
let apple: OfferDetails;
beforeAll(async () => {
  sandbox = await startSandbox();
  causeway = await sandbox.newUser();
  await sandbox.verify(causeway);
  wallet = await sandbox.newWallet({ intercept: recordsCalls(calls) });
  [sale, fund, apple] = (await Promise.all(
    ['harbour-quarter', 'treasury-fund', 'apple-tokenized'].map((slug) => causeway.offers.get(slug)),
  )) as [OfferDetails, OfferDetails, OfferDetails];
  trusted = {
    [CHAIN]: {
      contracts: [sale, fund, apple].map((offer) => contractOf(offer).address),
      tokens: { 'usd-coin': sandbox.tokenOf('usd-coin') },
    },
  };
});
afterAll(() => sandbox.stop());

const contractOf = ({ contracts }: OfferDetails) =>
  contracts.find(({ chain }) => chain === CHAIN) as OfferDetails['contracts'][number];
/** The offer as a malicious service would publish it. */
const changed = (offer: OfferDetails, change: Partial<OfferDetails['contracts'][number]>): OfferDetails => ({
  ...offer,
  contracts: [{ ...contractOf(offer), ...change }],
});
const swappedTokens = (offer: OfferDetails) =>
  contractOf(offer).funding_tokens.map((token) => ({ ...token, address: sandbox.tokenOf('tether') }));
/** Runs a flow that must be refused without a prompt. */
async function refused(flow: () => Promise<unknown>): Promise<FlowError> {
  calls.length = 0;
  const error = await failureOf(flow());
  expect(calls).not.toContain('eth_sendTransaction');
  expect(calls).not.toContain('eth_signTypedData_v4');
  return error;
}
const input = () => ({ chain: CHAIN, wallet, assetId: 'usd-coin', amount: AMOUNT }) as const;
const options = () => ({ ...QUICK, trusted });

describe('a malicious service that publishes other addresses', () => {
  const attacks: [string, (offer: OfferDetails) => OfferDetails][] = [
    ['a foreign contract to approve', (offer) => changed(offer, { address: THIEF })],
    [
      'another token under the name of the asset',
      (offer) => changed(offer, { funding_tokens: swappedTokens(offer) }),
    ],
    [
      'the addresses of the contract and the token swapped',
      (offer) => changed(offer, { address: contractOf(offer).funding_tokens[0]?.address ?? THIEF }),
    ],
  ];
  test.each(attacks)('cannot sell a token with %s', async (_what, attack) => {
    const optionId = optionOf(sale, 'public');
    const offer = attack(sale);
    const { code } = await refused(() => buyTokenSale(causeway, { ...input(), offer, optionId }, options()));
    expect([code, calls]).toEqual(['contract_not_trusted', []]);
  });

  test.each(attacks)('cannot swap into a fund with %s', async (_what, attack) => {
    const offer = attack(fund);
    const order = { ...input(), offer, slippageBps: 50 };
    const { code } = await refused(() => swapFund(causeway, order, options()));
    expect([code, calls]).toEqual(['contract_not_trusted', []]);
  });

  test.each(attacks)('cannot sell a tokenized asset with %s', async (_what, attack) => {
    const offer = attack(apple);
    const order = { ...input(), offer, maxSlippageBps: 50 };
    const { code } = await refused(() => buyTokenized(causeway, order, options()));
    expect([code, calls]).toEqual(['contract_not_trusted', []]);
  });
});

describe('a malicious service that changes an order', () => {
  const tampered = async (change: (order: TokenizedSwapTransaction) => Partial<TokenizedSwapTransaction>) => {
    const client = await sandbox.newUser({
      fetch: async (url, init) => {
        const reply = await fetch(url, init);
        if (!String(url).endsWith('/swap/transaction') || !reply.ok) return reply;
        const body = (await reply.json()) as TokenizedSwapTransaction;
        return Response.json({ ...body, ...change(body) });
      },
    });
    const buyer = await sandbox.newWallet();
    const order = { ...input(), wallet: buyer, offer: apple, maxSlippageBps: 50 };
    const sent: Hex[] = [];
    buyer.intercept((call, next) => {
      if (call.method === 'eth_sendTransaction') sent.push((call.params as [{ to: Hex }])[0].to);
      return next(call);
    });
    const error = await failureOf(buyTokenized(client, order, options()));
    // The wallet sent one transaction: the approval of exactly the amount for the trusted contract.
    expect(sent).toEqual([sandbox.tokenOf('usd-coin').toLowerCase()]);
    return error;
  };

  test.each<[string, (order: TokenizedSwapTransaction) => Partial<TokenizedSwapTransaction>]>([
    ['an impostor contract', () => ({ to: THIEF })],
    ['an inflated fee', ({ fee }) => ({ fee: String(BigInt(fee) * 10n) })],
    [
      'an approval instead of the swap',
      () => ({ data: `0x095ea7b3${THIEF.slice(2).padStart(64, '0')}${'f'.repeat(64)}` }),
    ],
  ])('cannot send %s', async (_what, change) => {
    expect((await tampered(change)).code).toBe('calldata_refused');
  });

  test('cannot deliver less than the quote that the user saw', async () => {
    const buyer = await sandbox.newWallet();
    const quoted = 10n ** 30n;
    const order = { ...input(), wallet: buyer, offer: apple, maxSlippageBps: 50, quoted };
    const error = await failureOf(buyTokenized(await sandbox.newUser(), order, options()));
    expect(error.code).toBe('price_moved');
  });

  test('a purchase without a limit on slippage is refused before the wallet opens', async () => {
    const { code } = await refused(() => buyTokenized(causeway, { ...input(), offer: apple }, options()));
    expect([code, calls]).toEqual(['invalid_input', []]);
  });

  test('a manager or contract that is not pinned fails the verification', async () => {
    const claim = { to: contractOf(apple).address, data: '0x', wallet: wallet.address };
    const buyer = await sandbox.newWallet();
    const client = await sandbox.newUser();
    let order: TokenizedSwapTransaction | undefined;
    const listening = {
      ...client,
      tokenized: {
        ...client.tokenized,
        transaction: async (...args: Parameters<typeof client.tokenized.transaction>) => {
          order = await client.tokenized.transaction(...args);
          throw new Error('stop here');
        },
      },
    };
    await failureOf(
      buyTokenized(listening, { ...input(), wallet: buyer, offer: apple, maxSlippageBps: 50 }, options()),
    );
    if (order === undefined) throw new Error('no order was placed');
    const verify = (pins: object) =>
      verifyCalldata(buyer.provider, { ...claim, ...order, wallet: buyer.address, ...pins });
    const failed = ({ findings }: Awaited<ReturnType<typeof verify>>) =>
      findings.filter(({ ok }) => !ok).map(({ check }) => check);
    expect(failed(await verify({}))).toEqual([]);
    expect(failed(await verify({ contracts: [THIEF] }))).toEqual(['contract']);
    expect(failed(await verify({ contracts: [] }))).toEqual(['contract']);
    expect(failed(await verify({ venue_managers: [THIEF] }))).toEqual(['venue manager']);
  });
});

describe('a malicious service that replaces the permission', () => {
  const allow = (to: string, account: Hex) => ({
    to,
    data: encodeFunctionData({
      abi: allowListAbi,
      functionName: 'allow',
      args: [account, `0x${'00'.repeat(32)}`, 0n, '0x'],
    }),
  });
  const attempt = async (reply: () => object, more: TrustedContracts = {}) => {
    const client = await sandbox.newUser({
      fetch: async (url, init) => {
        const original = await fetch(url, init);
        return String(url).endsWith('/allow-wallet') ? Response.json(reply()) : original;
      },
    });
    const order = { offerId: fund.id, chain: CHAIN, wallet } as const;
    return refused(() => allowWallet(client, order, { ...options(), trusted: { ...trusted, ...more } }));
  };
  const listOf = () => contractOf(fund).allow_list_address as Hex;

  test.each<[string, () => object]>([
    ['the permission of another wallet', () => allow(listOf(), THIEF)],
    ['a permission on another contract', () => allow(THIEF, wallet.address)],
    ['another call of the allow-list', () => ({ to: listOf(), data: `0x8da5cb5b${'00'.repeat(32)}` })],
    ['a call of a contract that nobody published', () => ({ to: THIEF, data: '0x12345678' })],
  ])('cannot send %s', async (_what, reply) => {
    expect((await attempt(reply)).code).toBe('calldata_refused');
  });

  test('even a trusted supplier cannot spend tokens', async () => {
    const supplier = sandbox.tokenOf('tether');
    const suppliers = { [CHAIN]: { suppliers: [supplier] } };
    const spend = { to: supplier, data: `0x095ea7b3${'00'.repeat(64)}` };
    expect((await attempt(() => spend, suppliers)).code).toBe('calldata_refused');
    // Other calls to a trusted supplier are not refused but simulated. This one reverts.
    const call = { to: supplier, data: '0x12345678' };
    expect((await attempt(() => call, suppliers)).code).toBe('contract_reverted');
  });
});
