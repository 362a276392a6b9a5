import { bytes32Token } from '@causeway/contracts/abi/bytes32-token.ts';
import { fixedPriceMarket } from '@causeway/contracts/abi/fixed-price-market.ts';
import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { fundSwapV1 } from '@causeway/contracts/abi/fund-swap-v1.ts';
import { tetherLikeToken } from '@causeway/contracts/abi/tether-like-token.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { type Address, getAddress, type Hex, maxUint256, stringToHex, zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { startTestChain, type TestChain, type TestNode } from '../../../test/support/chain.ts';

const chain = 'ethereum_sepolia';
const unusedAddress: Hex = '0x00000000000000000000000000000000000000aa';
const owner = roles.owner.address;

let testChain: TestChain;
let node: TestNode;
let app: TestApp;
let bearer: string;
let usdc: Hex;

beforeAll(async () => {
  testChain = await startTestChain(chain);
  node = await testChain.addNode();
  app = await testApp({ config: { rpcUrls: { [chain]: [node.url] }, rpcFreshnessMs: 25 } });
  bearer = await app.tokenFor({ userId: null, scopes: new Set(['swaps:read']) });
  usdc = testChain.deployment.tokens[0]?.address ?? '0x';
});
afterAll(async () => {
  await app.close();
  await testChain.close();
});

async function get(path: string, query: Record<string, string>) {
  const reply = await app.app.inject({
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

/** Deploys a market and a swap contract that are not in the service's configuration. */
async function deploySwap(artifact: typeof fundSwap | typeof fundSwapV1, options: SwapOptions) {
  const { output, price = 3_000_000n, feeBps = 130n, swapLevel = 8, supply = 10n ** 24n } = options;
  const { supplier = zeroAddress } = options;
  const market = await testChain.create(fixedPriceMarket, [owner, output, owner]);
  await testChain.owner.writeContract({
    address: market,
    abi: fixedPriceMarket.abi,
    functionName: 'setPrice',
    args: [usdc, price],
  });
  await testChain.owner.writeContract({
    address: output,
    abi: token.abi,
    functionName: 'mint',
    args: [market, supply],
  });
  const config = { owner, market, feeRecipient: unusedAddress, feeBps, supplier, swapLevel };
  return { market, swap: await testChain.create(artifact as typeof fundSwap, [config]) };
}

const deployToken = (decimals = 9) => testChain.create(token, [owner, 'Fresh', 'FRSH', decimals]);

describe('contracts deployed by others', () => {
  test('are previewed with their own fee and limited by their supply', async () => {
    const { swap } = await deploySwap(fundSwap, { output: await deployToken(9), supply: 10n ** 9n });
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

  test('have their output token read, including bytes32 name and symbol', async () => {
    const legacy = await testChain.create(bytes32Token, [
      owner,
      stringToHex('Old Money', { size: 32 }),
      stringToHex('OLD', { size: 32 }),
    ]);
    const { swap } = await deploySwap(fundSwapV1, { output: legacy });
    expect((await get('/v1/swap/output-token', { contract_address: getAddress(swap) })).body).toEqual({
      object: 'swap_output_token',
      name: 'Old Money',
      symbol: 'OLD',
      decimals: 18,
    });
  });

  test('authorize every wallet without an allow-list, and only allowed wallets with one', async () => {
    const output = await deployToken();
    const open = await deploySwap(fundSwap, { output });
    const closed = await deploySwap(fundSwap, { output, supplier: roles.supplier.address });
    const readAuthorization = async (contract_address: Hex) =>
      (await get('/v1/wallet/authorized', { contract_address, wallet_address: unusedAddress })).body;
    expect(await readAuthorization(open.swap)).toEqual({ object: 'wallet_authorization', authorized: true });
    expect(await readAuthorization(closed.swap)).toEqual({
      object: 'wallet_authorization',
      authorized: false,
    });
  });
});

describe('the stop mask', () => {
  const status = async (contract_address: Hex) => (await get('/v1/swap/status', { contract_address })).body;
  const expected = (stopped: number, swap_level: number) => ({
    object: 'swap_status',
    stopped: String(stopped),
    swap_level: String(swap_level),
  });

  test('of version 1 is the value of stopped()', async () => {
    const { swap } = await deploySwap(fundSwapV1, { output: await deployToken(), swapLevel: 16 });
    expect(await status(swap)).toEqual(expected(0, 16));
    for (const level of [5n, 16n, maxUint256, 0n]) {
      await testChain.owner.writeContract({
        address: swap,
        abi: fundSwapV1.abi,
        functionName: 'stop',
        args: [level],
      });
      expect(await status(swap)).toEqual({ ...expected(0, 16), stopped: level.toString() });
    }
  });

  test('of version 2 is the value of paused()', async () => {
    const { swap } = await deploySwap(fundSwap, { output: await deployToken(), swapLevel: 8 });
    for (const flags of [0, 3, 8, 2 ** 32 - 1]) {
      await testChain.owner.writeContract({
        address: swap,
        abi: fundSwap.abi,
        functionName: 'pause',
        args: [flags],
      });
      expect(await status(swap)).toEqual(expected(flags, 8));
    }
  });

  test('of version 2 includes the swap level if the contract is permanently stopped', async () => {
    const { swap } = await deploySwap(fundSwap, { output: await deployToken(), swapLevel: 8 });
    await testChain.owner.writeContract({
      address: swap,
      abi: fundSwap.abi,
      functionName: 'pause',
      args: [1],
    });
    await testChain.owner.writeContract({ address: swap, abi: fundSwap.abi, functionName: 'stop' });
    expect(await status(swap)).toEqual(expected(9, 8));
  });

  test.each([1, 2])('of version 2 includes the swap level if its market is in state %i', async (state) => {
    const { swap, market } = await deploySwap(fundSwap, { output: await deployToken(), swapLevel: 4 });
    await testChain.owner.writeContract({
      address: market,
      abi: fixedPriceMarket.abi,
      functionName: 'setState',
      args: [state],
    });
    expect(await status(swap)).toEqual(expected(4, 4));
  });

  test('of the tokenized swap contract is readable too', async () => {
    const { venue } = testChain.deployment;
    expect(await status(venue?.swap ?? '0x')).toEqual(expected(0, 2));
  });
});

describe('tokens', () => {
  test('have balances and allowances up to 2^256-1', async () => {
    const address = await deployToken();
    await testChain.owner.writeContract({
      address,
      abi: token.abi,
      functionName: 'mint',
      args: [unusedAddress, maxUint256],
    });
    await testChain.owner.writeContract({
      address,
      abi: token.abi,
      functionName: 'approve',
      args: [unusedAddress, maxUint256],
    });
    expect((await get('/v1/token/balance', { token_address: address, owner: unusedAddress })).body).toEqual({
      object: 'token_balance',
      balance: maxUint256.toString(),
    });
    expect(
      (await get('/v1/token/allowance', { token_address: address, owner, spender: unusedAddress })).body,
    ).toEqual({
      object: 'token_allowance',
      allowance: maxUint256.toString(),
    });
  });

  test('whose approve returns nothing are readable', async () => {
    const address = await testChain.create(tetherLikeToken, [owner]);
    await testChain.owner.writeContract({
      address,
      abi: tetherLikeToken.abi,
      functionName: 'approve',
      args: [unusedAddress, 7n],
    });
    const { body } = await get('/v1/token/allowance', {
      token_address: address,
      owner,
      spender: unusedAddress,
    });
    expect(body.allowance).toBe('7');
  });

  test('without decimals are reported as contract_reverted', async () => {
    // The output token is a swap contract, which has neither a name nor decimals.
    const { fund_swap } = testChain.deployment;
    const market = await testChain.create(fixedPriceMarket, [owner, fund_swap.address, owner]);
    const config = {
      owner,
      market,
      feeRecipient: unusedAddress,
      feeBps: 0n,
      supplier: zeroAddress as Address,
      swapLevel: 2,
    };
    const swap = await testChain.create(fundSwap, [config]);
    const reply = await get('/v1/swap/output-token', { contract_address: swap });
    expect([reply.status, reply.body.code]).toEqual([422, 'contract_reverted']);
  });
});

const everyEndpoint = (contract: string): [string, Record<string, string>][] => [
  ['/v1/swap/preview', { contract_address: contract, input_token: usdc, amount: '1' }],
  ['/v1/swap/output-token', { contract_address: contract }],
  ['/v1/swap/status', { contract_address: contract }],
  ['/v1/wallet/authorized', { contract_address: contract, wallet_address: unusedAddress }],
  ['/v1/token/allowance', { token_address: contract, owner, spender: unusedAddress }],
  ['/v1/token/balance', { token_address: contract, owner }],
];

describe('every endpoint', () => {
  test('returns contract_not_found if the address has no code', async () => {
    for (const [path, query] of everyEndpoint(unusedAddress)) {
      const { status, body } = await get(path, query);
      expect([path, status, body.code]).toEqual([path, 422, 'contract_not_found']);
    }
  });

  test('returns contract_reverted with a reason for another kind of contract', async () => {
    const { multicall } = testChain.deployment;
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

  test('names each missing or invalid parameter', async () => {
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
  ] as const)('reports that the chain is %s', async (mode, status, code) => {
    node.fault.set(mode);
    for (const [path, query] of everyEndpoint(await freshAddress())) {
      const reply = await get(path, query);
      expect([path, reply.status, reply.body.code]).toEqual([path, status, code]);
      expect(reply.body.errors).toEqual({ upstream: `rpc:${chain}` });
      expect(reply.headers['retry-after']).toBe(status === 503 ? '1' : undefined);
    }
    node.fault.set('none');
    const readStatus = async () => (await get('/v1/token/balance', { token_address: usdc, owner })).status;
    await expect.poll(readStatus, { timeout: 5_000 }).toBe(200);
  });
});

let fresh = 0;
async function freshAddress(): Promise<string> {
  return `0x${(++fresh).toString(16).padStart(40, 'f')}`;
}

test('only integers up to 2^256-1 are accepted as amounts', async () => {
  const preview = (amount: string) =>
    get('/v1/swap/preview', {
      contract_address: testChain.deployment.fund_swap.address,
      input_token: usdc,
      amount,
    });
  expect((await preview('0')).status).toBe(200);
  const [input, fee, output] = await testChain.direct.readContract({
    address: testChain.deployment.fund_swap.address,
    abi: fundSwap.abi,
    functionName: 'preview',
    args: [usdc, maxUint256],
  });
  expect((await preview(maxUint256.toString())).body).toEqual({
    object: 'swap_preview',
    fee: fee.toString(),
    pay_input_amount: input.toString(),
    receive_output_amount: output.toString(),
  });
  for (const amount of [(maxUint256 + 1n).toString(), '-1', '01', '1.0', '1e3', '0x10', ' 1', '１'])
    expect([amount, (await preview(amount)).body.code]).toEqual([amount, 'validation_failed']);
});

test('revert reasons are decoded', async () => {
  const query = {
    contract_address: testChain.deployment.fund_swap.address,
    input_token: unusedAddress,
    amount: '1',
  };
  const { body } = await get('/v1/swap/preview', query);
  expect(body).toMatchObject({
    code: 'contract_reverted',
    errors: { reason: `TokenNotTaken(${getAddress(unusedAddress)})` },
  });
});
