import type { Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { beforeAll, describe, expect, test } from 'vitest';
import { allowListAbi, approveAbi } from '../../src/flows/abi.ts';
import {
  allowWallet,
  buyTokenized,
  buyTokenSale,
  buyTokenSaleOnSolana,
  type FlowError,
  findOpenApproval,
  proveAndBindWallet,
  revokeApproval,
  swapFund,
  type TrustedContracts,
  verifyCalldata,
} from '../../src/flows/index.ts';
import type { TestWallet } from '../../src/testing/index.ts';
import type { EvmChain, OfferDetails, SwapPreview, TokenizedSwapTransaction } from '../../src/wire.ts';
import { CHAIN, failureOf, optionOf, QUICK, recordsCalls, type Sandbox, useSandbox } from './sandbox.ts';

const THIEF = `0x${'d1'.repeat(20)}` as const;
const AMOUNT = 100_500_000n;
const SOLANA = 'solana_devnet';

let sandbox: Sandbox;
let causeway: Awaited<ReturnType<Sandbox['newUser']>>;
let wallet: TestWallet;
/** The methods that were called on the wallet. */
const calls: string[] = [];
let trusted: TrustedContracts;
let sale: OfferDetails;
let fund: OfferDetails;
let apple: OfferDetails;
/** The fund that uses the older contracts, and the client id of the partner that offers it. */
let classic: OfferDetails;
let clientIdOfOther: string;
beforeAll(async () => {
  sandbox = await useSandbox();
  causeway = await sandbox.newUser();
  await sandbox.verify(causeway);
  wallet = await sandbox.newWallet({ intercept: recordsCalls(calls) });
  [sale, fund, apple] = (await Promise.all(
    ['harbour-quarter', 'treasury-fund', 'apple-tokenized'].map((slug) => causeway.offers.get(slug)),
  )) as [OfferDetails, OfferDetails, OfferDetails];
  const { other_partner } = sandbox.overview as unknown as { other_partner: { client_id: string } };
  clientIdOfOther = other_partner.client_id;
  classic = await (await sandbox.newUser({ clientId: clientIdOfOther })).offers.get('treasury-fund-classic');
  const solana = sale.contracts.find(({ chain }) => chain === SOLANA);
  trusted = {
    [CHAIN]: {
      contracts: [sale, fund, classic, apple].map((offer) => contractOf(offer).address),
      tokens: { 'usd-coin': sandbox.tokenOf('usd-coin') },
    },
    [SOLANA]: {
      contracts: [solana?.address ?? ''],
      tokens: { 'usd-coin': solana?.funding_tokens[0]?.address ?? '' },
    },
  };
});

const contractOf = ({ contracts }: OfferDetails) =>
  contracts.find(({ chain }) => chain === CHAIN) as OfferDetails['contracts'][number];
/** The offer as a malicious service would publish it. */
const changed = (offer: OfferDetails, change: Partial<OfferDetails['contracts'][number]>): OfferDetails => ({
  ...offer,
  contracts: [{ ...contractOf(offer), ...change }],
});
const renamed = (token: OfferDetails['contracts'][number]['funding_tokens'][number]) => ({
  ...token,
  asset_id: 'usdc',
});
const swappedTokens = (offer: OfferDetails) =>
  contractOf(offer).funding_tokens.map((token) => ({ ...token, address: sandbox.tokenOf('tether') }));
/** Runs a flow that must fail before the wallet prompts the user. Returns the flow's error. */
async function refused(flow: () => Promise<unknown>): Promise<FlowError> {
  calls.length = 0;
  const error = await failureOf(flow());
  expect(calls).not.toContain('eth_sendTransaction');
  expect(calls).not.toContain('eth_signTypedData_v4');
  expect(calls).not.toContain('wallet_sendCalls');
  return error;
}
/**
 * Attempts a purchase on Solana. The purchase must fail. Returns the error code and the methods that were called on the
 * wallet.
 */
async function buyOnSolana(offer: OfferDetails): Promise<[string, string[]]> {
  const { address = '' } = sandbox.overview.wallets.find(({ protocol }) => protocol === 'solana') ?? {};
  const { rpc_url = '' } = sandbox.overview.chains.find(({ chain }) => chain === SOLANA) ?? {};
  const asked: string[] = [];
  const ask = (what: string) => async () => {
    asked.push(what);
    return new Uint8Array(64);
  };
  const wallet = {
    ...{ protocol: 'solana' as const, address, signMessage: ask('signMessage') },
    signAndSendTransaction: ask('signAndSendTransaction'),
  };
  const assetId = offer.contracts[0]?.funding_tokens[0]?.asset_id ?? '';
  const order = {
    offer,
    optionId: optionOf(sale, 'public'),
    chain: SOLANA,
    wallet,
    assetId,
    amount: AMOUNT,
  } as const;
  const rpcUrls = { [SOLANA]: [rpc_url] };
  const { code } = await failureOf(buyTokenSaleOnSolana(causeway, order, { ...options(), rpcUrls }));
  return [code, asked];
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
    [
      'a token under an asset id that the host did not name',
      (offer) => changed(offer, { funding_tokens: swappedTokens(offer).map(renamed) }),
    ],
    [
      'a network with real money instead of the test network',
      (offer) => changed(offer, { chain: 'base_mainnet', address: THIEF } as object),
    ],
  ];
  /** The purchase that a page would start, based on the offer that the service published. */
  const inputFor = (offer: OfferDetails) => ({
    ...{ ...input(), offer, chain: offer.contracts[0]?.chain as EvmChain },
    assetId: offer.contracts[0]?.funding_tokens[0]?.asset_id ?? '',
  });
  test.each(attacks)('cannot sell a token with %s', async (_what, attack) => {
    const optionId = optionOf(sale, 'public');
    const offer = attack(sale);
    const order = { ...inputFor(offer), optionId };
    const { code } = await refused(() => buyTokenSale(causeway, order, options()));
    expect([code, calls]).toEqual(['contract_not_trusted', []]);
  });

  test.each(attacks)('cannot swap into a fund with %s', async (_what, attack) => {
    for (const offer of [attack(fund), attack(classic)]) {
      const order = { ...inputFor(offer), slippageBps: 50 };
      const { code } = await refused(() => swapFund(causeway, order, options()));
      expect([code, calls]).toEqual(['contract_not_trusted', []]);
    }
  });

  test.each(attacks)('cannot sell a tokenized asset with %s', async (_what, attack) => {
    const order = { ...inputFor(attack(apple)), maxSlippageBps: 50 };
    const { code } = await refused(() => buyTokenized(causeway, order, options()));
    expect([code, calls]).toEqual(['contract_not_trusted', []]);
  });

  test.each(attacks.slice(0, 4))('cannot sell a token on Solana with %s', async (_what, attack) => {
    const contract = sale.contracts.find(({ chain }) => chain === SOLANA);
    const offer = attack({ ...sale, contracts: [{ ...contract, chain: CHAIN }] } as OfferDetails);
    const published = { ...offer, contracts: [{ ...contractOf(offer), chain: SOLANA }] } as OfferDetails;
    expect(await buyOnSolana(published)).toEqual(['contract_not_trusted', []]);
  });

  test('cannot misstate the decimals of a token, so that the page shows less than the wallet signs', async () => {
    const lie = (offer: OfferDetails) =>
      changed(offer, {
        funding_tokens: contractOf(offer).funding_tokens.map((one) => ({ ...one, decimals: 18 })),
      });
    const optionId = optionOf(sale, 'public');
    const flows = [
      () => buyTokenSale(causeway, { ...input(), offer: lie(sale), optionId }, options()),
      () => swapFund(causeway, { ...input(), offer: lie(fund), slippageBps: 50 }, options()),
      () => swapFund(causeway, { ...input(), offer: lie(classic), slippageBps: 50 }, options()),
      () => buyTokenized(causeway, { ...input(), offer: lie(apple), maxSlippageBps: 50 }, options()),
    ];
    for (const flow of flows) expect((await refused(flow)).code).toBe('token_mismatch');
    const solana = sale.contracts.filter(({ chain }) => chain === SOLANA);
    const contracts = solana.map((one) => ({
      ...one,
      funding_tokens: one.funding_tokens.map((token) => ({ ...token, decimals: 2 })),
    }));
    expect(await buyOnSolana({ ...sale, contracts } as OfferDetails)).toEqual(['token_mismatch', []]);
  });

  test('cannot sell another asset under the symbol of a tokenized one', async () => {
    const tesla = await causeway.offers.get('tesla-tokenized');
    const { asset_address } = contractOf(tesla);
    for (const lie of [asset_address, sandbox.tokenOf('usd-coin'), null]) {
      const order = { ...input(), offer: changed(apple, { asset_address: lie }), maxSlippageBps: 50 };
      expect((await refused(() => buyTokenized(causeway, order, options()))).code).toBe('token_mismatch');
    }
    const pinned = { [CHAIN]: { ...trusted[CHAIN], tokens: { ...trusted[CHAIN]?.tokens, aaplon: THIEF } } };
    const order = { ...input(), offer: apple, maxSlippageBps: 50 };
    const error = await refused(() => buyTokenized(causeway, order, { ...QUICK, trusted: pinned }));
    expect([error.code, calls]).toEqual(['contract_not_trusted', []]);
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
    // The wallet sent one transaction: the approval of the exact amount for the trusted contract.
    expect(sent).toEqual([sandbox.tokenOf('usd-coin').toLowerCase()]);
    return error;
  };

  test.each<[string, (order: TokenizedSwapTransaction) => Partial<TokenizedSwapTransaction>]>([
    ['an impostor contract', () => ({ to: THIEF })],
    ['an order that is shown as a larger one', () => ({ receive_output_decimals: 15 })],
    ['a payment that is shown as a smaller one', () => ({ pay_input_decimals: 9 })],
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

  test('cannot quote in a unit that makes the page show more than the wallet receives', async () => {
    const client = await sandbox.newUser({
      fetch: async (url, init) => {
        const reply = await fetch(url, init);
        if (!String(url).includes('/swap/quote') || !reply.ok) return reply;
        return Response.json({ ...((await reply.json()) as object), asset_decimals: 15 });
      },
    });
    const order = { ...input(), offer: apple, maxSlippageBps: 50 };
    expect((await refused(() => buyTokenized(client, order, options()))).code).toBe('token_mismatch');
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

describe('a malicious service that lies about a fund', () => {
  const better = ({ fee, pay_input_amount, receive_output_amount }: SwapPreview) => ({
    ...{ fee: '0', pay_input_amount: String(BigInt(pay_input_amount) + BigInt(fee)) },
    receive_output_amount: String((BigInt(receive_output_amount) * 102n) / 100n),
  });
  const worse = () => ({ receive_output_amount: '1' });

  test.each(['new', 'old'])(
    'can neither hide a fee nor lower the minimum in the %s generation',
    async (generation) => {
      const [offer, change] = generation === 'new' ? [fund, {}] : [classic, { clientId: clientIdOfOther }];
      let lie: (preview: SwapPreview) => Partial<SwapPreview> = () => ({});
      const client = await sandbox.newUser({
        ...change,
        fetch: async (url, init) => {
          const reply = await fetch(url, init);
          if (!String(url).includes('/swap/preview') || !reply.ok) return reply;
          const body = (await reply.json()) as SwapPreview;
          return Response.json({ ...body, ...lie(body) });
        },
      });
      await sandbox.verify(client);
      const buyer = await sandbox.newWallet({ intercept: recordsCalls(calls) });
      await allowWallet(client, { offerId: offer.id, chain: CHAIN, wallet: buyer }, QUICK);
      const order = { ...input(), wallet: buyer, offer, slippageBps: 50 };
      for (const told of [better, worse]) {
        lie = told;
        expect((await refused(() => swapFund(client, order, options()))).code).toBe('price_moved');
      }
      lie = () => ({});
      expect((await swapFund(client, order, options())).paid).toBe(AMOUNT);
    },
  );
});

describe('a malicious service that lies about open approvals', () => {
  /** Creates a client for a service that greatly overstates every wallet's allowance. */
  const lied = () =>
    sandbox.newUser({
      fetch: async (url, init) =>
        String(url).includes('/token/allowance')
          ? Response.json({ object: 'token_allowance', allowance: '900000000' })
          : fetch(url, init),
    });
  const approve = (owner: TestWallet, amount: bigint) =>
    owner.provider.request({
      method: 'eth_sendTransaction',
      params: [
        {
          ...{ from: owner.address, to: sandbox.tokenOf('usd-coin') },
          data: encodeFunctionData({
            abi: approveAbi,
            functionName: 'approve',
            args: [contractOf(sale).address as Hex, amount],
          }),
        },
      ],
    });

  test('cannot make a wallet resume a purchase, or revoke an approval, of another wallet', async () => {
    const client = await lied();
    await approve(await sandbox.newWallet(), AMOUNT);
    const approval = { ...input(), offer: sale };
    expect((await refused(() => findOpenApproval(client, approval, options()))).code).toBe(
      'insufficient_allowance',
    );
    expect((await refused(() => revokeApproval(client, approval, options()))).code).toBe(
      'approval_not_found',
    );
  });

  test('cannot inflate the amount', async () => {
    const client = await lied();
    const owner = await sandbox.newWallet();
    const hash = await approve(owner, AMOUNT - 1n);
    owner.intercept(recordsCalls(calls));
    const approval = { ...input(), wallet: owner, offer: sale };
    const { code, details } = await refused(() => findOpenApproval(client, approval, options()));
    expect([code, details.allowance]).toEqual(['insufficient_allowance', String(AMOUNT - 1n)]);
    const covered = { ...approval, amount: AMOUNT - 1n };
    expect(await findOpenApproval(client, covered, options())).toBe(hash);
    const order = {
      ...covered,
      optionId: optionOf(sale, 'public'),
      amount: AMOUNT,
      approvalHash: hash as Hex,
    };
    expect((await refused(() => buyTokenSale(client, order, options()))).code).toBe('insufficient_allowance');
  });

  test('cannot make a wallet skip its approval by claiming that there is one', async () => {
    const client = await lied();
    await sandbox.verify(client);
    const buyer = await sandbox.newWallet();
    await allowWallet(client, { offerId: fund.id, chain: CHAIN, wallet: buyer }, QUICK);
    buyer.intercept(recordsCalls(calls));
    const order = { ...input(), wallet: buyer, offer: fund, slippageBps: 50 };
    expect((await refused(() => swapFund(client, order, options()))).code).toBe('contract_reverted');
  });

  test.each([
    ['a foreign contract', () => changed(sale, { address: THIEF })],
    ['another token', () => changed(sale, { funding_tokens: swappedTokens(sale) })],
  ])('cannot name %s', async (_what, published) => {
    const approval = { ...input(), offer: published() };
    for (const flow of [findOpenApproval, revokeApproval]) {
      const { code } = await refused(() => flow(causeway, approval, options()));
      expect([code, calls]).toEqual(['contract_not_trusted', []]);
    }
  });
});

describe('a malicious service that asks for another signature', () => {
  const EXCHANGE = 'exchange.example wants you to sign in with your Ethereum account:';
  const siwe = { domain: 'localhost:3000', uri: 'http://localhost:3000' };
  /** A client of a service that changes the messages which the wallet signs. */
  const clientOf = (change: (message: string) => string) =>
    sandbox.newUser({
      fetch: async (url, init) => {
        const reply = await fetch(url, init);
        if (!String(url).endsWith('/wallet-ownership')) return reply;
        const challenge = (await reply.json()) as { message: string };
        return Response.json({ ...challenge, message: change(challenge.message) });
      },
    });

  test.each<[string, (message: string) => string]>([
    [
      'signs the user in to another site',
      () => `${EXCHANGE}\n${wallet.address}\n\nURI: https://exchange.example`,
    ],
    ['proves the ownership of another wallet', () => `You own ${THIEF}.`],
    ['contains more than the proof', (message) => `${message}\nResources:\n- https://exchange.example`],
    ['signs in to another site before the proof', (message) => `${EXCHANGE}\n${message}`],
    ['belongs to another chain', (message) => message.replace(/11155111|devnet/, '1')],
  ])('never shows a message that %s', async (_what, change) => {
    const client = await clientOf(change);
    await sandbox.verify(client);
    const optionId = optionOf(sale, 'public');
    const flows = [{}, { siwe }].flatMap((more) => [
      () => buyTokenSale(client, { ...input(), offer: sale, optionId }, { ...options(), ...more }),
      () => buyTokenized(client, { ...input(), offer: apple, maxSlippageBps: 50 }, { ...options(), ...more }),
      () => allowWallet(client, { offerId: fund.id, chain: CHAIN, wallet }, { ...options(), ...more }),
      () =>
        proveAndBindWallet(
          client,
          { offerId: sale.id, optionId, chain: CHAIN, wallet },
          { ...options(), ...more },
        ),
    ]);
    for (const flow of flows) {
      expect((await refused(flow)).code).toBe('message_refused');
      expect(calls).not.toContain('personal_sign');
    }
    const { address = '' } = sandbox.overview.wallets.find(({ protocol }) => protocol === 'solana') ?? {};
    const signMessage = async () => {
      throw new Error('must not be asked');
    };
    const solana = { protocol: 'solana', address, signMessage } as const;
    const bind = { offerId: sale.id, optionId, chain: SOLANA, wallet: solana } as const;
    expect((await refused(() => proveAndBindWallet(client, bind, { siwe }))).code).toBe('message_refused');
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
    // Other calls to a trusted supplier are allowed if their simulation succeeds. The simulation of this call reverts.
    const call = { to: supplier, data: '0x12345678' };
    expect((await attempt(() => call, suppliers)).code).toBe('contract_reverted');
  });
});
