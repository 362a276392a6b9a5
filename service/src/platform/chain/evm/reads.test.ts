import { fixedPriceMarket } from '@causeway/contracts/abi/fixed-price-market.ts';
import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { token as tokenArtifact } from '@causeway/contracts/abi/token.ts';
import { roles, testWallets } from '@causeway/sandbox/seed/keys.ts';
import fc from 'fast-check';
import { type Hex, maxUint256 } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startTestChain, type TestChain, type TestNode } from '../../../../test/support/chain.ts';
import { type Chains, openChains } from '../open-chains.ts';
import { type EvmChain, uncached } from './client.ts';
import { readAllowance, readBalance, readTokenMetadata } from './erc20.ts';
import { readAuthorized, readOutputToken, readPreview, readSwapStatus } from './fund-swap.ts';

const FRESHNESS_MS = 25;
let testChain: TestChain;
let node: TestNode;
let chains: Chains;
let evm: EvmChain;
const wallets = testWallets
  .filter(({ protocol }) => protocol === 'ethereum')
  .map(({ address }) => address as Hex);
const unusedAddress: Hex = '0x00000000000000000000000000000000000000aa';

beforeAll(async () => {
  testChain = await startTestChain();
  node = await testChain.addNode();
});
beforeEach(async () => {
  await chains?.close();
  chains = openChains({ urls: { ethereum_sepolia: [node.url] }, freshnessMs: FRESHNESS_MS });
  evm = chains.evm('ethereum_sepolia');
});
afterAll(async () => {
  await chains.close();
  await testChain.close();
});

const usdc = () => testChain.deployment.tokens[0]?.address ?? '0x';
const sent = async (work: () => Promise<unknown>) => {
  const before = node.requests();
  await work();
  return node.requests() - before;
};

it('returns the same values as direct calls, for generated states', async () => {
  const { direct, owner, deployment } = testChain;
  const { fund_swap } = deployment;
  const write = async (
    to: Hex,
    abi: typeof tokenArtifact.abi | typeof fixedPriceMarket.abi | typeof fundSwap.abi,
    functionName: string,
    args: unknown[],
  ) =>
    owner.writeContract({ address: to, abi, functionName, args, gas: 1_000_000n } as Parameters<
      typeof owner.writeContract
    >[0]);
  const state = fc.record({
    price: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    fee: fc.integer({ min: 0, max: 1000 }),
    flags: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    amount: fc.oneof(
      fc.bigInt({ min: 0n, max: 10n ** 15n }),
      fc.bigInt({ min: 0n, max: maxUint256 / 10_000n }),
    ),
    allowance: fc.bigInt({ min: 0n, max: maxUint256 }),
    wallet: fc.constantFrom(...wallets, unusedAddress),
  });
  await fc.assert(
    fc.asyncProperty(state, async ({ price, fee, flags, amount, allowance, wallet }) => {
      await write(fund_swap.market, fixedPriceMarket.abi, 'setPrice', [usdc(), price]);
      await write(fund_swap.address, fundSwap.abi, 'setFee', [BigInt(fee), roles.owner.address]);
      await write(fund_swap.address, fundSwap.abi, 'pause', [flags]);
      await write(usdc(), tokenArtifact.abi, 'approve', [wallet, allowance]);
      const swap = { address: fund_swap.address, abi: fundSwap.abi } as const;
      const erc20 = { address: usdc(), abi: tokenArtifact.abi } as const;
      const [input, cut, output] = await direct.readContract({
        ...swap,
        functionName: 'preview',
        args: [usdc(), amount],
      });
      const level = await direct.readContract({ ...swap, functionName: 'SWAP_LEVEL' });
      expect(
        await Promise.all([
          readPreview(evm, fund_swap.address, usdc(), amount),
          readSwapStatus(evm, fund_swap.address),
          readAuthorized(evm, fund_swap.address, wallet),
          readBalance(evm, usdc(), wallet),
          readAllowance(evm, usdc(), roles.owner.address, wallet),
        ]),
      ).toEqual([
        { input, fee: cut, output },
        { stopped: BigInt(flags), swapLevel: level },
        await direct.readContract({ ...swap, functionName: 'authorized', args: [wallet] }),
        await direct.readContract({ ...erc20, functionName: 'balanceOf', args: [wallet] }),
        await direct.readContract({
          ...erc20,
          functionName: 'allowance',
          args: [roles.owner.address, wallet],
        }),
      ]);
    }),
    { numRuns: 30 },
  );
  await write(fund_swap.address, fundSwap.abi, 'pause', [0]);
  await write(fund_swap.market, fixedPriceMarket.abi, 'setPrice', [usdc(), 10_000_000n]);
  // One of the states generated above may have set the allowance to the maximum. Resets the allowance, so that later
  // tests can raise it.
  await write(usdc(), tokenArtifact.abi, 'approve', [unusedAddress, 0n]);
});

it('shares one RPC call among identical reads in flight', async () => {
  const read = () => readBalance(evm, usdc(), unusedAddress);
  expect(await sent(() => Promise.all(Array.from({ length: 500 }, read)))).toBe(1);
});

it('sends different reads that arrive together in one multicall', async () => {
  const amounts = Array.from({ length: 50 }, (_, index) => BigInt(index + 1) * 1_000_000n);
  const reads = () =>
    Promise.all(
      amounts.map((amount) => readPreview(evm, testChain.deployment.fund_swap.address, usdc(), amount)),
    );
  expect(await sent(reads)).toBe(1);
});

it('serves most reads from the cache under load', async () => {
  const reader = async () => {
    for (let i = 0; i < 300; i++) await readBalance(evm, usdc(), unusedAddress);
  };
  const startedAt = performance.now();
  const requests = await sent(() => Promise.all(Array.from({ length: 64 }, reader)));
  const intervals = (performance.now() - startedAt) / FRESHNESS_MS;
  // The node gets a burst of 40 requests, then one per interval, and one whenever the head is too old.
  expect(requests).toBeLessThan(42 + 1.5 * intervals);
});

it('shows the effect of a mined transaction to the next read', async () => {
  // Waits for the token bucket for uncached reads to refill, because the previous test has exhausted it.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  for (let i = 0; i < 12; i++) {
    const before = await readAllowance(evm, usdc(), roles.owner.address, unusedAddress);
    await testChain.owner.writeContract({
      address: usdc(),
      abi: tokenArtifact.abi,
      functionName: 'approve',
      args: [unusedAddress, before + 1n],
    });
    expect(await readAllowance(evm, usdc(), roles.owner.address, unusedAddress)).toBe(before + 1n);
  }
});

it('shows the effect to uncached reads under load', async () => {
  let isDone = false;
  const reader = async () => {
    while (!isDone) await readAllowance(evm, usdc(), roles.owner.address, unusedAddress);
  };
  const load = Promise.all(Array.from({ length: 8 }, reader));
  for (let i = 0; i < 12; i++) {
    const before = await readAllowance(uncached(evm), usdc(), roles.owner.address, unusedAddress);
    await testChain.owner.writeContract({
      address: usdc(),
      abi: tokenArtifact.abi,
      functionName: 'approve',
      args: [unusedAddress, before + 1n],
    });
    expect(await readAllowance(uncached(evm), usdc(), roles.owner.address, unusedAddress)).toBe(before + 1n);
  }
  isDone = true;
  await load;
});

it('shows the effect of a reorganisation at the same height', async () => {
  await testChain.owner.writeContract({
    address: usdc(),
    abi: tokenArtifact.abi,
    functionName: 'approve',
    args: [unusedAddress, 77n],
  });
  await testChain.chain.mine(1);
  await testChain.owner.writeContract({
    address: usdc(),
    abi: tokenArtifact.abi,
    functionName: 'approve',
    args: [unusedAddress, 78n],
  });
  const read = () => readAllowance(evm, usdc(), roles.owner.address, unusedAddress);
  expect(await read()).toBe(78n);
  await testChain.chain.reorg({ depth: 1, transactions: 'drop' });
  expect(await read()).toBe(77n);
  // Checks the same read again after exhausting the token bucket for uncached reads.
  for (let i = 0; i < 200; i++) await read();
  await testChain.chain.reorg({ depth: 2, transactions: 'drop' });
  await expect.poll(read, { timeout: 20_000, interval: 20 }).toBe(77n);
});

it('reads token metadata once', async () => {
  const swap = testChain.deployment.fund_swap.address;
  const read = async () => readTokenMetadata(evm, await readOutputToken(evm, swap));
  expect(await read()).toEqual({ name: 'Causeway Treasury Fund', symbol: 'CTF', decimals: 6 });
  expect(await sent(read)).toBe(0);
});

it('reads bytes32 names and symbols', async () => {
  const legacy = testChain.deployment.tokens.find(({ code }) => code === 'LEG')?.address ?? '0x';
  expect(await readTokenMetadata(evm, legacy)).toEqual({ name: 'Legacy Token', symbol: 'LEG', decimals: 18 });
});

it('distinguishes a missing contract from one that reverts', async () => {
  await expect(readBalance(evm, unusedAddress, unusedAddress)).rejects.toMatchObject({
    code: 'contract_not_found',
  });
  await expect(readTokenMetadata(evm, unusedAddress)).rejects.toMatchObject({ code: 'contract_not_found' });
  await expect(readTokenMetadata(evm, testChain.deployment.fund_swap.address)).rejects.toMatchObject({
    code: 'contract_reverted',
  });
  const preview = readPreview(evm, testChain.deployment.fund_swap.address, unusedAddress, 1n);
  await expect(preview).rejects.toMatchObject({
    code: 'contract_reverted',
    details: { reason: expect.stringMatching(/^TokenNotTaken\(0x0+aa\)$/i) },
  });
});

it('throws chain_not_supported for a chain without an RPC endpoint', () => {
  expect(() => chains.evm('base_mainnet')).toThrow(expect.objectContaining({ code: 'chain_not_supported' }));
  expect(() => chains.evm('solana_devnet')).toThrow(expect.objectContaining({ code: 'chain_not_supported' }));
});

/** Deploys a contract with the given code of at most 32 bytes. */
async function deployCode(code: string): Promise<Hex> {
  const size = code.length / 2;
  const byte = (value: number) => value.toString(16).padStart(2, '0');
  const data: Hex = `0x${byte(0x5f + size)}${code}60005260${byte(size)}60${byte(32 - size)}f3`;
  const hash = await testChain.owner.sendTransaction({ data, gas: 200_000n });
  const { contractAddress } = await testChain.direct.getTransactionReceipt({ hash });
  return (contractAddress ?? '0x').toLowerCase() as Hex;
}

it.each([
  ['result', '602060005261ea6060205261eaa06000f3'],
  ['reason for a revert', '6308c379a060e01b600052602060045261ea6060245261eaa46000fd'],
])('does not decode a text of 60,000 bytes as a %s', async (_name, code) => {
  const wordy = await deployCode(code);
  const [balance, metadata] = await Promise.allSettled([
    readBalance(evm, usdc(), unusedAddress),
    readTokenMetadata(evm, wordy),
  ]);
  expect(balance).toMatchObject({ status: 'fulfilled' });
  expect(metadata).toMatchObject({ reason: { code: 'contract_reverted' } });
  const { details } = (metadata as PromiseRejectedResult).reason;
  expect(details.reason.length).toBeLessThan(200);
});

it('isolates a contract that burns all gas', async () => {
  // The contract's code is a single INVALID opcode, which consumes all gas.
  const burner = await deployCode('fe');
  expect(await testChain.direct.getCode({ address: burner })).toBe('0xfe');
  const reads = await Promise.allSettled([
    readBalance(evm, usdc(), unusedAddress),
    readBalance(evm, burner, unusedAddress),
    readBalance(evm, usdc(), wallets[0] ?? '0x'),
    readPreview(evm, testChain.deployment.fund_swap.address, usdc(), 1_000_000n),
    readTokenMetadata(evm, usdc()),
  ]);
  expect(reads.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ]);
  expect(reads[1]).toMatchObject({ reason: { code: 'contract_reverted' } });
});

it('falls back to a JSON-RPC batch if the chain has no multicall contract', async () => {
  const bare = await startTestChain('base_sepolia', true);
  const bareNode = await bare.addNode();
  const address = await bare.create(tokenArtifact, [roles.owner.address, 'Bare', 'BARE', 4]);
  const bareChains = openChains({ urls: { base_sepolia: [bareNode.url] }, freshnessMs: 25 });
  const bareChain = bareChains.evm('base_sepolia');
  expect(await readTokenMetadata(bareChain, address)).toEqual({ name: 'Bare', symbol: 'BARE', decimals: 4 });
  const before = bareNode.requests();
  const balances = await Promise.all(wallets.map((wallet) => readBalance(bareChain, address, wallet)));
  expect(balances).toEqual(wallets.map(() => 0n));
  expect(bareNode.requests() - before).toBeLessThanOrEqual(2);
  await expect(readBalance(bareChain, unusedAddress, unusedAddress)).rejects.toMatchObject({
    code: 'contract_not_found',
  });
  await bareChains.close();
  await bare.close();
});
