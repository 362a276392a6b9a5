import { bytes32Token } from '@causeway/contracts/abi/bytes32-token.ts';
import { fixedPriceMarket } from '@causeway/contracts/abi/fixed-price-market.ts';
import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { fundSwapV1 } from '@causeway/contracts/abi/fund-swap-v1.ts';
import { tetherLikeToken } from '@causeway/contracts/abi/tether-like-token.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { type Address, getAddress, type Hex, maxUint256, stringToHex, zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../test/support/app.ts';
import { startTestChain, type TestChain, type TestNode } from '../../test/support/chain.ts';

const chain = 'ethereum_sepolia';
const nobody: Hex = '0x00000000000000000000000000000000000000aa';
const owner = roles.owner.address;

let world: TestChain;
let node: TestNode;
let one: TestApp;
let bearer: string;
let usdc: Hex;

beforeAll(async () => {
  world = await startTestChain(chain);
  node = await world.addNode();
  one = await testApp({ config: { rpcUrls: { [chain]: [node.url] }, rpcFreshness: 25 } });
  bearer = await one.tokenFor({ userId: null, scopes: new Set(['swaps:read']) });
  usdc = world.deployment.tokens[0]?.address ?? '0x';
});
afterAll(async () => {
  await one.close();
  await world.close();
});

async function get(path: string, query: Record<string, string>) {
  const reply = await one.app.inject({
    method: 'GET',
    url: `${path}?${new URLSearchParams({ chain, ...query })}`,
    headers: { authorization: `Bearer ${bearer}` },
  });
  return { status: reply.statusCode, headers: reply.headers, body: reply.json() };
}

type SwapOptions = {
  output: Hex;
  price?: bigint;
  feeBps?: bigint;
  swapLevel?: number;
  supply?: bigint;
  supplier?: Address;
};

/** A market and a swap contract that nobody configured for the service. */
async function freshSwap(artifact: typeof fundSwap | typeof fundSwapV1, options: SwapOptions) {
  const { output, price = 3_000_000n, feeBps = 130n, swapLevel = 8, supply = 10n ** 24n } = options;
  const { supplier = zeroAddress } = options;
  const market = await world.create(fixedPriceMarket, [owner, output, owner]);
  await world.owner.writeContract({
    address: market,
    abi: fixedPriceMarket.abi,
    functionName: 'setPrice',
    args: [usdc, price],
  });
  await world.owner.writeContract({
    address: output,
    abi: token.abi,
    functionName: 'mint',
    args: [market, supply],
  });
  const config = { owner, market, feeRecipient: nobody, feeBps, supplier, swapLevel };
  return { market, swap: await world.create(artifact as typeof fundSwap, [config]) };
}

const newToken = (decimals = 9) => world.create(token, [owner, 'Fresh', 'FRSH', decimals]);

describe('contracts that the service did not deploy', () => {
  test('are previewed with their own fee, and filled only as far as supply goes', async () => {
    const { swap } = await freshSwap(fundSwap, { output: await newToken(9), supply: 10n ** 9n });
    const preview = (amount: string) =>
      get('/v1/swap/preview', { contract_address: swap, input_token: usdc, amount });
    // net = floor(2_026_000 × 10000 / 10130)
    expect((await preview('2026000')).body).toEqual({
      object: 'swap_preview',
      fee: '26000',
      pay_input_amount: '2000000',
      receive_output_amount: '666666666',
    });
    expect((await preview('9000000000')).body).toEqual({
      object: 'swap_preview',
      fee: '39000',
      pay_input_amount: '3000000',
      receive_output_amount: '1000000000',
    });
  });

  test('tell their output token, also when its texts are bytes32', async () => {
    const legacy = await world.create(bytes32Token, [
      owner,
      stringToHex('Old Money', { size: 32 }),
      stringToHex('OLD', { size: 32 }),
    ]);
    const { swap } = await freshSwap(fundSwapV1, { output: legacy });
    expect((await get('/v1/swap/output-token', { contract_address: getAddress(swap) })).body).toEqual({
      object: 'swap_output_token',
      name: 'Old Money',
      symbol: 'OLD',
      decimals: 18,
    });
  });

  test('let everyone in without an allow-list, and only the allowed with one', async () => {
    const output = await newToken();
    const open = await freshSwap(fundSwap, { output });
    const closed = await freshSwap(fundSwap, { output, supplier: roles.supplier.address });
    const ask = async (contract_address: Hex) =>
      (await get('/v1/wallet/authorized', { contract_address, wallet_address: nobody })).body;
    expect(await ask(open.swap)).toEqual({ object: 'wallet_authorization', authorized: true });
    expect(await ask(closed.swap)).toEqual({ object: 'wallet_authorization', authorized: false });
  });
});

describe('the stop mask', () => {
  const status = async (contract_address: Hex) => (await get('/v1/swap/status', { contract_address })).body;
  const shows = (stopped: number, swap_level: number) => ({
    object: 'swap_status',
    stopped: String(stopped),
    swap_level: String(swap_level),
  });

  test('of the older generation is what the contract says', async () => {
    const { swap } = await freshSwap(fundSwapV1, { output: await newToken(), swapLevel: 16 });
    expect(await status(swap)).toEqual(shows(0, 16));
    for (const level of [5n, 16n, maxUint256, 0n]) {
      await world.owner.writeContract({
        address: swap,
        abi: fundSwapV1.abi,
        functionName: 'stop',
        args: [level],
      });
      expect(await status(swap)).toEqual({ ...shows(0, 16), stopped: level.toString() });
    }
  });

  test('of the newer generation is its pause mask', async () => {
    const { swap } = await freshSwap(fundSwap, { output: await newToken(), swapLevel: 8 });
    for (const flags of [0, 3, 8, 2 ** 32 - 1]) {
      await world.owner.writeContract({
        address: swap,
        abi: fundSwap.abi,
        functionName: 'pause',
        args: [flags],
      });
      expect(await status(swap)).toEqual(shows(flags, 8));
    }
  });

  test('of the newer generation has the swap level when the contract is stopped for good', async () => {
    const { swap } = await freshSwap(fundSwap, { output: await newToken(), swapLevel: 8 });
    await world.owner.writeContract({ address: swap, abi: fundSwap.abi, functionName: 'pause', args: [1] });
    await world.owner.writeContract({ address: swap, abi: fundSwap.abi, functionName: 'stop' });
    expect(await status(swap)).toEqual(shows(9, 8));
  });

  test.each([1, 2])(
    'of the newer generation has the swap level when its market is in state %i',
    async (state) => {
      const { swap, market } = await freshSwap(fundSwap, { output: await newToken(), swapLevel: 4 });
      await world.owner.writeContract({
        address: market,
        abi: fixedPriceMarket.abi,
        functionName: 'setState',
        args: [state],
      });
      expect(await status(swap)).toEqual(shows(4, 4));
    },
  );

  test('of the tokenized contract is told too', async () => {
    const { venue } = world.deployment;
    expect(await status(venue?.swap ?? '0x')).toEqual(shows(0, 2));
  });
});

describe('tokens', () => {
  test('balances and allowances go to 2^256-1', async () => {
    const address = await newToken();
    await world.owner.writeContract({
      address,
      abi: token.abi,
      functionName: 'mint',
      args: [nobody, maxUint256],
    });
    await world.owner.writeContract({
      address,
      abi: token.abi,
      functionName: 'approve',
      args: [nobody, maxUint256],
    });
    expect((await get('/v1/token/balance', { token_address: address, owner: nobody })).body).toEqual({
      object: 'token_balance',
      balance: maxUint256.toString(),
    });
    expect(
      (await get('/v1/token/allowance', { token_address: address, owner, spender: nobody })).body,
    ).toEqual({
      object: 'token_allowance',
      allowance: maxUint256.toString(),
    });
  });

  test('that return nothing from approve are read like others', async () => {
    const address = await world.create(tetherLikeToken, [owner]);
    await world.owner.writeContract({
      address,
      abi: tetherLikeToken.abi,
      functionName: 'approve',
      args: [nobody, 7n],
    });
    const { body } = await get('/v1/token/allowance', { token_address: address, owner, spender: nobody });
    expect(body.allowance).toBe('7');
  });

  test('without decimals are a revert, coded', async () => {
    // A swap contract as output token has neither name nor decimals.
    const { fund_swap } = world.deployment;
    const market = await world.create(fixedPriceMarket, [owner, fund_swap.address, owner]);
    const config = {
      owner,
      market,
      feeRecipient: nobody,
      feeBps: 0n,
      supplier: zeroAddress as Address,
      swapLevel: 2,
    };
    const swap = await world.create(fundSwap, [config]);
    const reply = await get('/v1/swap/output-token', { contract_address: swap });
    expect([reply.status, reply.body.code]).toEqual([422, 'contract_reverted']);
  });
});

const everyEndpoint = (contract: string): [string, Record<string, string>][] => [
  ['/v1/swap/preview', { contract_address: contract, input_token: usdc, amount: '1' }],
  ['/v1/swap/output-token', { contract_address: contract }],
  ['/v1/swap/status', { contract_address: contract }],
  ['/v1/wallet/authorized', { contract_address: contract, wallet_address: nobody }],
  ['/v1/token/allowance', { token_address: contract, owner, spender: nobody }],
  ['/v1/token/balance', { token_address: contract, owner }],
];

describe('every endpoint', () => {
  test('answers contract_not_found where there is no code', async () => {
    for (const [path, query] of everyEndpoint(nobody)) {
      const { status, body } = await get(path, query);
      expect([path, status, body.code]).toEqual([path, 422, 'contract_not_found']);
    }
  });

  test('answers contract_reverted, with the reason, where the contract is of another kind', async () => {
    const { multicall } = world.deployment;
    for (const [path, query] of everyEndpoint(multicall)) {
      const { status, body } = await get(path, query);
      expect([path, status, body.code, typeof body.errors.reason]).toEqual([
        path,
        422,
        'contract_reverted',
        'string',
      ]);
    }
  });

  test('names each parameter that is missing or wrong', async () => {
    for (const [path, query] of everyEndpoint(usdc)) {
      for (const name of Object.keys(query)) {
        const { [name]: _left, ...rest } = query;
        for (const wrong of [rest, { ...query, [name]: 'x' }, { ...query, [name]: '' }]) {
          const { status, body } = await get(path, wrong);
          expect([path, status, body.code, Object.keys(body.errors)]).toEqual([
            path,
            422,
            'validation_failed',
            [name],
          ]);
        }
      }
      expect((await get(path, { ...query, chain: 'solana_devnet' })).body.errors).toHaveProperty('chain');
      expect((await get(path, { ...query, chain: 'base_mainnet' })).body.code).toBe('chain_not_supported');
    }
  });

  test.each([
    ['down', 503, 'upstream_unavailable'],
    ['garbage', 502, 'upstream_error'],
    ['rate_limited', 503, 'upstream_unavailable'],
  ] as const)('tells that the chain is %s', async (mode, status, code) => {
    node.fault.set(mode);
    for (const [path, query] of everyEndpoint(await freshAddress())) {
      const reply = await get(path, query);
      expect([path, reply.status, reply.body.code]).toEqual([path, status, code]);
      expect(reply.body.errors).toEqual({ upstream: `rpc:${chain}` });
      expect(reply.headers['retry-after']).toBe(status === 503 ? '1' : undefined);
    }
    node.fault.set('none');
    const works = async () => (await get('/v1/token/balance', { token_address: usdc, owner })).status;
    await expect.poll(works, { timeout: 5_000 }).toBe(200);
  });
});

let fresh = 0;
async function freshAddress(): Promise<string> {
  return `0x${(++fresh).toString(16).padStart(40, 'f')}`;
}

test('amounts are whole numbers up to 2^256-1 and nothing else', async () => {
  const ask = (amount: string) =>
    get('/v1/swap/preview', {
      contract_address: world.deployment.fund_swap.address,
      input_token: usdc,
      amount,
    });
  expect((await ask('0')).status).toBe(200);
  const [input, fee, output] = await world.direct.readContract({
    address: world.deployment.fund_swap.address,
    abi: fundSwap.abi,
    functionName: 'preview',
    args: [usdc, maxUint256],
  });
  expect((await ask(maxUint256.toString())).body).toEqual({
    object: 'swap_preview',
    fee: fee.toString(),
    pay_input_amount: input.toString(),
    receive_output_amount: output.toString(),
  });
  for (const amount of [(maxUint256 + 1n).toString(), '-1', '01', '1.0', '1e3', '0x10', ' 1', '１'])
    expect([amount, (await ask(amount)).body.code]).toEqual([amount, 'validation_failed']);
});

test('the reason of a revert is decoded', async () => {
  const query = { contract_address: world.deployment.fund_swap.address, input_token: nobody, amount: '1' };
  const { body } = await get('/v1/swap/preview', query);
  expect(body).toMatchObject({
    code: 'contract_reverted',
    errors: { reason: `TokenNotTaken(${getAddress(nobody)})` },
  });
});
