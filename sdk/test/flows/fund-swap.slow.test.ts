import { fixedPriceMarket } from '@causeway/contracts/abi/fixed-price-market.ts';
import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { createPublicClient, createWalletClient, type Hex, http, parseAbi } from 'viem';
import { sepolia } from 'viem/chains';
import { decodeFunctionData, encodeFunctionData } from 'viem/utils';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { allowWallet, type FundSwapPhase, swapFund } from '../../src/flows/index.ts';
import { type Interceptor, ProviderError, type TestWallet } from '../../src/testing/index.ts';
import type { OfferDetails } from '../../src/wire.ts';
import { enableBatches } from './batch-wallet.ts';
import {
  BASE_ID,
  CHAIN,
  CHAIN_ID,
  changesAccountAfter,
  failureOf,
  hangs,
  QUICK,
  rejects,
  type Sandbox,
  useSandbox,
} from './sandbox.ts';

type Client = Awaited<ReturnType<Sandbox['newUser']>>;

const erc20 = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function balanceOf(address owner) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
]);
const AMOUNT = 100_000_000n;

let sandbox: Sandbox;
let causeway: Client;
let offer: OfferDetails;
let swap: Hex;
let market: Hex;
let price: bigint;
let reader: ReturnType<typeof createPublicClient>;
beforeAll(async () => {
  sandbox = await useSandbox();
  causeway = await sandbox.newUser();
  await sandbox.verify(causeway);
  offer = await causeway.offers.get('treasury-fund');
  swap = offer.contracts.find(({ chain }) => chain === CHAIN)?.address as Hex;
  const transport = http(sandbox.overview.chains[0]?.rpc_url);
  reader = createPublicClient({ chain: sepolia, transport, cacheTime: 0, pollingInterval: 20 });
  market = await reader.readContract({ address: swap, abi: fundSwap.abi, functionName: 'market' });
  price = await readPrice();
});
beforeEach(async () => {
  if ((await readPrice()) !== price) await setPrice(price);
});

const readPrice = () =>
  reader.readContract({
    address: market,
    abi: fixedPriceMarket.abi,
    functionName: 'price',
    args: [sandbox.tokenOf('usd-coin')],
  });
const asOwner = async (to: Hex, data: Hex) => {
  const transport = http(sandbox.overview.chains[0]?.rpc_url);
  const hash = await createWalletClient({ chain: sepolia, transport, account: roles.owner }).sendTransaction({
    to,
    data,
  });
  await reader.waitForTransactionReceipt({ hash });
};
const setPrice = (to: bigint) =>
  asOwner(
    market,
    encodeFunctionData({
      abi: fixedPriceMarket.abi,
      functionName: 'setPrice',
      args: [sandbox.tokenOf('usd-coin'), to],
    }),
  );
const pause = (flags: number) =>
  asOwner(swap, encodeFunctionData({ abi: fundSwap.abi, functionName: 'pause', args: [flags] }));
const balance = (token: Hex, owner: Hex) =>
  reader.readContract({ address: token, abi: erc20, functionName: 'balanceOf', args: [owner] });

async function allowedWallet(): Promise<TestWallet> {
  const wallet = await sandbox.newWallet();
  await allowWallet(causeway, { offerId: offer.id, chain: CHAIN, wallet }, QUICK);
  return wallet;
}

const order = (wallet: TestWallet, assetId = 'usd-coin') =>
  ({ offer, chain: CHAIN, wallet, assetId, amount: AMOUNT, slippageBps: 50 }) as const;

/** Records the function name and the amounts of each call that the wallet is asked to send. */
function recordSends(wallet: TestWallet, interceptor: Interceptor = (call, next) => next(call)) {
  const sent: (string | bigint)[][] = [];
  wallet.intercept((call, next) => {
    if (call.method === 'eth_sendTransaction') {
      const [{ data }] = call.params as [{ data: Hex }];
      const { functionName, args } = decodeFunctionData({ abi: [...erc20, ...fundSwap.abi], data });
      sent.push([functionName, ...(args ?? []).filter((value) => typeof value === 'bigint')]);
    }
    return interceptor(call, next);
  });
  return sent;
}

test('approves exactly the amount and swaps it for at least the preview minus the slippage', async () => {
  const wallet = await allowedWallet();
  const query = {
    contract_address: swap,
    chain: CHAIN,
    input_token: sandbox.tokenOf('usd-coin'),
    amount: String(AMOUNT),
  } as const;
  const preview = await causeway.swap.preview(query);
  const expected = BigInt(preview.receive_output_amount);
  const sent = recordSends(wallet);
  const phases: FundSwapPhase[] = [];
  const result = await swapFund(causeway, order(wallet), {
    ...QUICK,
    onPhase: (phase) => phases.push(phase),
  });
  expect(sent).toEqual([
    ['approve', AMOUNT],
    ['swap', AMOUNT, (expected * 9_950n + 9_999n) / 10_000n],
  ]);
  expect(result).toMatchObject({ received: expected, paid: AMOUNT, fee: BigInt(preview.fee) });
  expect(await balance(sandbox.tokenOf('causeway-treasury-fund'), wallet.address)).toBe(expected);
  expect(await balance(sandbox.tokenOf('usd-coin'), wallet.address)).toBe(1_000_000_000n - AMOUNT);
  expect(phases).toEqual([
    ...['connecting', 'checking', 'approving', 'confirming_approval', 'previewing', 'swapping', 'confirming'],
  ]);
});

test('resets an earlier USDT allowance to zero first', async () => {
  const wallet = await allowedWallet();
  const data = encodeFunctionData({ abi: erc20, functionName: 'approve', args: [swap, 5n] });
  const params = [{ from: wallet.address, to: sandbox.tokenOf('tether'), data }];
  await wallet.provider.request({ method: 'eth_sendTransaction', params });
  const sent = recordSends(wallet);
  const { received } = await swapFund(causeway, order(wallet, 'tether'), QUICK);
  expect(sent.slice(0, 2)).toEqual([
    ['approve', 0n],
    ['approve', AMOUNT],
  ]);
  expect(received).toBeGreaterThan(0n);
});

test('does not approve again if the allowance is sufficient', async () => {
  const wallet = await allowedWallet();
  const data = encodeFunctionData({ abi: erc20, functionName: 'approve', args: [swap, AMOUNT] });
  const params = [{ from: wallet.address, to: sandbox.tokenOf('usd-coin'), data }];
  await wallet.provider.request({ method: 'eth_sendTransaction', params });
  const sent = recordSends(wallet);
  await swapFund(causeway, order(wallet), QUICK);
  expect(sent.map(([name]) => name)).toEqual(['swap']);
});

test('works with the older generation of contracts', async () => {
  const { other_partner } = sandbox.overview as unknown as { other_partner: { client_id: string } };
  const other = await sandbox.newUser({ clientId: other_partner.client_id });
  const classic = await other.offers.get('treasury-fund-classic');
  const wallet = await sandbox.newWallet();
  await allowWallet(other, { offerId: classic.id, chain: CHAIN, wallet }, QUICK);
  const { received, paid } = await swapFund(other, { ...order(wallet), offer: classic }, QUICK);
  expect([received > 0n, paid]).toEqual([true, AMOUNT]);
});

test('reads the received amount from the transaction, not from the balance', async () => {
  const wallet = await allowedWallet();
  let gifts = 0;
  wallet.intercept(async (call, next) => {
    if (call.method === 'eth_getTransactionReceipt' && gifts++ < 2)
      await sandbox.faucet(wallet.address, 'causeway-treasury-fund', '123');
    return next(call);
  });
  const { received } = await swapFund(causeway, order(wallet), QUICK);
  expect(gifts).toBe(2);
  expect(await balance(sandbox.tokenOf('causeway-treasury-fund'), wallet.address)).toBe(received + 246n);
});

test('sends nothing if the wallet is not on the allow-list', async () => {
  const wallet = await sandbox.newWallet();
  const sent = recordSends(wallet);
  const error = await failureOf(swapFund(causeway, order(wallet), QUICK));
  expect([error.phase, error.code, sent]).toEqual(['checking', 'wallet_not_authorized', []]);
});

test('reports a stopped fund before anything is sent', async () => {
  const wallet = await allowedWallet();
  const sent = recordSends(wallet);
  const level = await reader.readContract({ address: swap, abi: fundSwap.abi, functionName: 'SWAP_LEVEL' });
  await pause(Number(level));
  try {
    const error = await failureOf(swapFund(causeway, order(wallet), QUICK));
    expect([error.phase, error.code, sent]).toEqual(['checking', 'swap_stopped', []]);
  } finally {
    await pause(0);
  }
});

test('reports a short supply; a partial swap approves and pays only the part', async () => {
  const wallet = await allowedWallet();
  const supply = await reader.readContract({
    address: market,
    abi: fixedPriceMarket.abi,
    functionName: 'supply',
  });
  const withdraw = (amount: bigint) =>
    asOwner(
      market,
      encodeFunctionData({ abi: fixedPriceMarket.abi, functionName: 'withdraw', args: [amount] }),
    );
  await withdraw(supply - 1_000_000n);
  try {
    const error = await failureOf(swapFund(causeway, order(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['checking', 'supply_short']);
    const sent = recordSends(wallet);
    const { paid, received } = await swapFund(causeway, { ...order(wallet), allowPartial: true }, QUICK);
    expect(paid).toBeLessThan(AMOUNT);
    expect(received).toBeLessThanOrEqual(1_000_000n);
    expect(sent[0]).toEqual(['approve', BigInt(String(error.details.pays))]);
    expect(paid).toBeLessThanOrEqual(BigInt(String(error.details.pays)));
  } finally {
    await sandbox.faucet(market, 'causeway-treasury-fund', String(supply));
  }
});

/** Changes the price after the wallet's first transaction, which is the approval. */
const movesPrice = (to: () => bigint): Interceptor => {
  let isMoved = false;
  return async (call, next) => {
    const result = await next(call);
    if (call.method === 'eth_sendTransaction' && !isMoved) {
      isMoved = true;
      await setPrice(to());
    }
    return result;
  };
};

test('accepts a price change within the slippage', async () => {
  const wallet = await allowedWallet();
  recordSends(
    wallet,
    movesPrice(() => (price * 1_003n) / 1_000n),
  );
  const { received } = await swapFund(causeway, order(wallet), QUICK);
  expect(received).toBeGreaterThan(0n);
});

test('stops before the swap if the price leaves the slippage during the approval', async () => {
  const wallet = await allowedWallet();
  const sent = recordSends(
    wallet,
    movesPrice(() => (price * 1_006n) / 1_000n),
  );
  const error = await failureOf(swapFund(causeway, order(wallet), QUICK));
  expect([error.phase, error.code]).toEqual(['previewing', 'price_moved']);
  expect(sent.map(([name]) => name)).toEqual(['approve']);
  expect(await balance(sandbox.tokenOf('usd-coin'), wallet.address)).toBe(1_000_000_000n);
});

test('reports the revert reason if the price moves after the owner confirmed', async () => {
  const wallet = await allowedWallet();
  wallet.intercept(async (call, next) => {
    const [request] = (call.params ?? []) as [{ to: Hex }];
    if (call.method !== 'eth_sendTransaction' || request.to.toLowerCase() !== swap.toLowerCase())
      return next(call);
    await setPrice(price * 2n);
    return next({ ...call, params: [{ ...request, gas: '0x7a120' }] });
  });
  const error = await failureOf(swapFund(causeway, order(wallet), QUICK));
  expect([error.phase, error.code]).toEqual(['confirming', 'transaction_reverted']);
  expect(error.details.reason).toBe('InsufficientAmount');
  expect(await balance(sandbox.tokenOf('usd-coin'), wallet.address)).toBe(1_000_000_000n);
});

test("enforces the caller's minimum in addition to the slippage", async () => {
  const wallet = await allowedWallet();
  const sent = recordSends(wallet);
  const error = await failureOf(swapFund(causeway, { ...order(wallet), minReceive: 10n ** 12n }, QUICK));
  expect([error.phase, error.code, sent]).toEqual(['checking', 'price_moved', []]);
});

test.each<[string, Partial<Parameters<typeof swapFund>[1]>, string]>([
  ['an amount above the balance', { amount: 1_000_000_001n }, 'insufficient_balance'],
  ['a slippage of 100%', { slippageBps: 10_000 }, 'invalid_input'],
  ['a fractional slippage', { slippageBps: 0.5 }, 'invalid_input'],
  ['an asset that the fund does not accept', { assetId: 'aaplon' }, 'asset_not_accepted'],
])('rejects %s before anything is sent', async (_what, change, code) => {
  const wallet = await allowedWallet();
  const sent = recordSends(wallet);
  const error = await failureOf(swapFund(causeway, { ...order(wallet), ...change }, QUICK));
  expect([error.code, sent]).toEqual([code, []]);
});

test('leaves only the approval if the owner rejects or the caller aborts the swap', async () => {
  const wallet = await allowedWallet();
  recordSends(wallet);
  const data = encodeFunctionData({ abi: erc20, functionName: 'approve', args: [swap, AMOUNT] });
  const params = [{ from: wallet.address, to: sandbox.tokenOf('usd-coin'), data }];
  await wallet.provider.request({ method: 'eth_sendTransaction', params });
  wallet.intercept(rejects('eth_sendTransaction'));
  const rejected = await failureOf(swapFund(causeway, order(wallet), QUICK));
  expect([rejected.phase, rejected.code]).toEqual(['swapping', 'user_rejected']);
  const controller = new AbortController();
  wallet.intercept(hangs('eth_sendTransaction', () => controller.abort()));
  const aborted = await failureOf(swapFund(causeway, order(wallet), { ...QUICK, signal: controller.signal }));
  expect([aborted.phase, aborted.code]).toEqual(['swapping', 'aborted']);
  expect(await balance(sandbox.tokenOf('usd-coin'), wallet.address)).toBe(1_000_000_000n);
});

const rpcUrl = () => sandbox.overview.chains[0]?.rpc_url ?? '';
const allowance = (owner: Hex, assetId = 'usd-coin') => {
  const address = sandbox.tokenOf(assetId);
  return reader.readContract({ address, abi: erc20, functionName: 'allowance', args: [owner, swap] });
};
const namesOf = (calls: { to: Hex; data: Hex }[]) =>
  calls.map(({ data }) => decodeFunctionData({ abi: [...erc20, ...fundSwap.abi], data }).functionName);

describe('a wallet that executes batches atomically', () => {
  test('gets the exact approval and the swap as one batch', async () => {
    const wallet = await allowedWallet();
    const { batches, methods } = await enableBatches(wallet, rpcUrl());
    const phases: FundSwapPhase[] = [];
    const hashes: string[] = [];
    const { received, paid, transactionHash } = await swapFund(causeway, order(wallet), {
      ...QUICK,
      onPhase: (phase) => phases.push(phase),
      onTransaction: ({ hash }) => hashes.push(hash),
    });
    expect(batches).toHaveLength(1);
    expect(batches[0]).toMatchObject({ atomicRequired: true, from: wallet.address.toLowerCase() });
    const [approve, call] = batches[0]?.calls ?? [];
    expect(namesOf(batches[0]?.calls ?? [])).toEqual(['approve', 'swap']);
    expect(decodeFunctionData({ abi: erc20, data: approve?.data ?? '0x' }).args).toEqual([
      expect.stringMatching(new RegExp(swap, 'i')),
      AMOUNT,
    ]);
    expect(call?.to.toLowerCase()).toBe(swap.toLowerCase());
    expect([received > 0n, paid, hashes]).toEqual([true, AMOUNT, [transactionHash]]);
    expect(await allowance(wallet.address)).toBe(0n);
    expect(methods).not.toContain('eth_sendTransaction');
    expect(phases).toEqual(['connecting', 'checking', 'swapping', 'confirming']);
  });

  test('resets an earlier USDT allowance in the same batch', async () => {
    const wallet = await allowedWallet();
    const data = encodeFunctionData({ abi: erc20, functionName: 'approve', args: [swap, 5n] });
    const params = [{ from: wallet.address, to: sandbox.tokenOf('tether'), data }];
    await wallet.provider.request({ method: 'eth_sendTransaction', params });
    const { batches } = await enableBatches(wallet, rpcUrl());
    await swapFund(causeway, order(wallet, 'tether'), QUICK);
    expect(batches.map(({ calls }) => namesOf(calls))).toEqual([['approve', 'approve', 'swap']]);
    expect(await allowance(wallet.address, 'tether')).toBe(0n);
  });

  test('keeps no allowance if the swap fails, because the approval is undone with it', async () => {
    const wallet = await allowedWallet();
    await enableBatches(wallet, rpcUrl(), { beforeSend: () => setPrice(price * 2n) });
    const error = await failureOf(swapFund(causeway, order(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['confirming', 'transaction_reverted']);
    expect(await allowance(wallet.address)).toBe(0n);
    expect(await balance(sandbox.tokenOf('usd-coin'), wallet.address)).toBe(1_000_000_000n);
  });

  test('is not believed: the result comes from the chain', async () => {
    const wallet = await allowedWallet();
    await enableBatches(wallet, rpcUrl(), {
      beforeSend: () => setPrice(price * 2n),
      status: (transactionHash) => ({ status: 200, receipts: [{ transactionHash, status: '0x1' }] }),
    });
    const error = await failureOf(swapFund(causeway, order(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['confirming', 'transaction_reverted']);
  });

  test.each([
    [600, 'outcome_unknown'],
    [400, 'transaction_not_found'],
    [undefined, 'outcome_unknown'],
    [200, 'outcome_unknown'],
  ])('that reports status %s without a receipt ends the flow with %s', async (status, code) => {
    const wallet = await allowedWallet();
    await enableBatches(wallet, rpcUrl(), { status: () => ({ status }) });
    const error = await failureOf(swapFund(causeway, order(wallet), QUICK));
    expect([error.phase, error.code]).toEqual(['confirming', code]);
  });

  test('that has accepted a batch but does not report it in time leaves the swap in `confirming`', async () => {
    const wallet = await allowedWallet();
    const { batches } = await enableBatches(wallet, rpcUrl(), { status: () => ({ status: 100 }) });
    const error = await failureOf(swapFund(causeway, order(wallet), { ...QUICK, confirmationTimeoutMs: 50 }));
    expect([error.phase, error.code]).toEqual(['confirming', 'confirmation_timeout']);
    expect(batches).toHaveLength(1);
  });

  const silence = () => null;
  const outage = () => {
    throw new TypeError('Failed to fetch');
  };
  test.each([
    ['eth_sendTransaction', silence],
    ['eth_sendTransaction', outage],
    ['wallet_sendCalls', silence],
    ['wallet_sendCalls', outage],
  ])(
    'and sends, but answers %s with nothing or fails, leaves the outcome unknown',
    async (method, answer) => {
      const wallet = await allowedWallet();
      const batching = method === 'wallet_sendCalls' ? 'auto' : 'off';
      await enableBatches(wallet, rpcUrl());
      const { request } = wallet.provider;
      const provider: typeof wallet.provider = {
        request: async (call) => {
          const reply = await request(call);
          return call.method === method ? answer() : reply;
        },
      };
      const mute = { ...order(wallet), wallet: { ...wallet, provider } };
      const error = await failureOf(swapFund(causeway, mute, { ...QUICK, batching }));
      expect(error.code).toBe('outcome_unknown');
    },
  );

  test('is not asked for a batch from an account that it no longer has', async () => {
    const wallet = await allowedWallet();
    const { batches } = await enableBatches(wallet, rpcUrl());
    const request = wallet.provider.request;
    const changed = changesAccountAfter('eth_call');
    const provider: typeof wallet.provider = { request: (call) => changed(call, request) };
    const error = await failureOf(
      swapFund(causeway, { ...order(wallet), wallet: { ...wallet, provider } }, QUICK),
    );
    expect([error.code, batches]).toEqual(['wallet_changed', []]);
  });
});

test.each<[string, { atomic?: string; refuse?: number }, { batching?: 'off' }]>([
  ['would have to upgrade the account first', { atomic: 'ready' }, {}],
  ['refuses the batch', { refuse: 5760 }, {}],
  ['is not asked, because the host turned batches off', {}, { batching: 'off' }],
])('sends two transactions if the wallet %s', async (_why, { atomic = 'supported', refuse }, options) => {
  const wallet = await allowedWallet();
  const { batches, methods } = await enableBatches(wallet, rpcUrl(), {
    atomic,
    beforeSend: async () => {
      throw new ProviderError(refuse ?? -1, 'Batches are not supported.');
    },
  });
  await swapFund(causeway, order(wallet), { ...QUICK, ...options });
  expect(batches).toHaveLength(refuse === undefined ? 0 : 1);
  expect(methods.filter((method) => method === 'eth_sendTransaction')).toHaveLength(2);
});

describe('a public client of the host', () => {
  test('answers all reads of the chain, reverts included', async () => {
    const wallet = await allowedWallet();
    const data = encodeFunctionData({ abi: erc20, functionName: 'approve', args: [swap, 5n] });
    const params = [{ from: wallet.address, to: sandbox.tokenOf('tether'), data }];
    await wallet.provider.request({ method: 'eth_sendTransaction', params });
    const methods = new Set<string>();
    const sent = recordSends(wallet, (call, next) => {
      methods.add(call.method);
      return next(call);
    });
    const publicClient = (chainId: number) => (chainId === CHAIN_ID ? reader : undefined);
    await swapFund(causeway, order(wallet, 'tether'), { ...QUICK, publicClient });
    expect(sent.map(([name]) => name)).toEqual(['approve', 'approve', 'swap']);
    expect([...methods].sort()).toEqual([
      ...['eth_accounts', 'eth_chainId', 'eth_sendTransaction', 'wallet_getCapabilities'],
    ]);
  });

  test('of another chain is refused before the wallet opens', async () => {
    const wallet = await allowedWallet();
    const sent = recordSends(wallet);
    const base = sandbox.overview.chains.find(({ chain_id }) => chain_id === BASE_ID);
    const publicClient = createPublicClient({ transport: http(base?.rpc_url) });
    const error = await failureOf(swapFund(causeway, order(wallet), { ...QUICK, publicClient }));
    expect([error.phase, error.code, sent]).toEqual(['connecting', 'invalid_input', []]);
  });
});
