import { multicall3 } from '@causeway/contracts/abi/multicall3.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { MULTICALL_ADDRESS } from '@causeway/sandbox/simulators/chains/genesis.ts';
import { createWalletClient, custom, encodeFunctionData, type Hex, parseAbi, parseSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { beforeAll, describe, expect, test } from 'vitest';
import { publishWallets } from '../../../test/support/contract-wallets.ts';
import { saleOfferFile, saleWorker, UNIT } from '../../../test/support/sale.ts';
import { useSale } from '../../../test/support/settlement.ts';
import { makeClient } from '../../../test/support/tokens.ts';
import { startBundler } from '../../../test/support/user-operations.ts';
import { evmWallet, person, proveWallets, userId } from '../../../test/support/wallets.ts';
import { readAllowance } from '../../platform/chain/evm/erc20.ts';
import { NodeError } from '../../platform/chain/rpc/failures.ts';
import { applyOffers } from '../offer-files/apply.ts';
import { inspectApprovals } from './approval.ts';
import { evmApprovalReader } from './evm-approval.ts';

const sale = useSale();
let published: Awaited<ReturnType<typeof publishWallets>>;

beforeAll(async () => {
  published = await publishWallets(sale.chain);
}, 10 * 60_000);

const send = (call: { to: Hex; data?: Hex; value?: bigint }, account = roles.deployer) =>
  createWalletClient({ account, chain: sepolia, transport: custom(sale.chain.chain) }).sendTransaction({
    ...call,
    gas: 1_000_000n,
  });

async function mintUsdc(to: Hex, amount: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: token.abi, functionName: 'mint', args: [to, amount] });
  await send({ to: sale.usdc, data });
}

const approveData = (spender: Hex, amount: bigint) =>
  encodeFunctionData({ abi: token.abi, functionName: 'approve', args: [spender, amount] });

/**
 * Creates a participation with an approval that was not sent directly to the token contract. Then settles the
 * participation and checks the fund's totals.
 */
async function expectCommitted(address: Hex, amount: bigint, hash: Hex): Promise<void> {
  const { to } = await sale.chain.direct.getTransaction({ hash });
  expect(to).not.toBe(sale.usdc);
  await proveWallets(sale.app.ctx, [address]);
  const request = sale.request({ address }, amount, hash);
  const { body } = await sale.person.call('POST', '/v1/participations', request);
  expect(body).toMatchObject({ status: 'pending', wallet_address: address });
  await saleWorker(sale).settle();
  expect(await sale.statusOf(String(body.id))).toBe('completed');
  expect(await sale.totalsOf(address)).toEqual({ count: 1n, sum: amount, remitted: 0n });
}

/** Returns the error code and details of a rejected request. */
async function rejectionOf(address: Hex, amount: bigint, hash: Hex) {
  await proveWallets(sale.app.ctx, [address]);
  const { body } = await sale.person.call(
    'POST',
    '/v1/participations',
    sale.request({ address }, amount, hash),
  );
  return { code: body.code, ...(body.errors as object) };
}

describe('an approval in a multicall', () => {
  const account = privateKeyToAccount(evmWallet('multicall').key);
  const address = account.address.toLowerCase() as Hex;

  async function permit(value: bigint, nonce: bigint): Promise<Hex> {
    const message = { owner: address, spender: sale.fund, value, nonce, deadline: 2n ** 64n };
    const signature = await account.signTypedData({
      domain: { name: 'USD Coin', version: '1', chainId: sepolia.id, verifyingContract: sale.usdc },
      types: {
        Permit: [
          { name: 'owner', type: 'address' },
          { name: 'spender', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'nonce', type: 'uint256' },
          { name: 'deadline', type: 'uint256' },
        ],
      },
      ...{ primaryType: 'Permit', message },
    });
    const { r, s, v } = parseSignature(signature);
    const args = [address, sale.fund, value, message.deadline, Number(v), r, s] as const;
    return encodeFunctionData({ abi: token.abi, functionName: 'permit', args });
  }

  const sendMulticall = (calls: Hex[]) =>
    send({
      to: MULTICALL_ADDRESS,
      data: encodeFunctionData({
        ...{ abi: multicall3.abi, functionName: 'aggregate3' },
        args: [calls.map((callData) => ({ target: sale.usdc, allowFailure: false, callData }))],
      } as never),
    });

  test('is valid', async () => {
    await mintUsdc(address, 8n * UNIT);
    // The receipt contains approvals by other accounts before and after the right one.
    const calls = [
      approveData(sale.fund, 1n),
      await permit(8n * UNIT, 0n),
      approveData(roles.owner.address, 9n * UNIT),
    ];
    await expectCommitted(address, 8n * UNIT, await sendMulticall(calls));
  });

  test('is not valid for the sender of the multicall or for another wallet', async () => {
    const hash = await sendMulticall([approveData(sale.fund, 8n * UNIT)]);
    const sender = roles.deployer.address.toLowerCase() as Hex;
    const invalid = { code: 'approval_invalid', reason: 'owner' };
    expect(await rejectionOf(sender, 8n * UNIT, hash)).toEqual(invalid);
    expect(await rejectionOf(address, 8n * UNIT, hash)).toEqual(invalid);
  });
});

describe('an approval by a contract wallet', () => {
  test('is valid if the owners of a Safe signed it and another account submitted it', async () => {
    const safe = await published.safeWallet('investor');
    const address = safe.address.toLowerCase() as Hex;
    await mintUsdc(address, 30n * UNIT);
    const hash = await safe.execute(sale.usdc, approveData(sale.fund, 30n * UNIT));
    expect(await rejectionOf(roles.owner.address.toLowerCase() as Hex, 30n * UNIT, hash)).toEqual({
      ...{ code: 'approval_invalid', reason: 'owner' },
    });
    await expectCommitted(address, 30n * UNIT, hash);
  });

  test('is valid in a batch of an EIP-7702 account', async () => {
    const wallet = evmWallet('delegated');
    const account = privateKeyToAccount(wallet.key);
    const address = account.address.toLowerCase() as Hex;
    await send({ to: address, value: 10n ** 18n });
    await mintUsdc(address, 12n * UNIT);
    await published.delegate(wallet, published.simple7702);
    const abi = parseAbi(['function executeBatch((address target, uint256 value, bytes data)[] calls)']);
    const calls = [approveData(sale.fund, 0n), approveData(sale.fund, 12n * UNIT)];
    const data = encodeFunctionData({
      ...{ abi, functionName: 'executeBatch' },
      args: [calls.map((one) => ({ target: sale.usdc, value: 0n, data: one }))],
    });
    await expectCommitted(address, 12n * UNIT, await send({ to: address, data }, account));
  });

  test('is valid in a user operation that a bundler sends through the ERC-4337 entry point', async () => {
    const wallet = evmWallet('user operation');
    const address = wallet.address as Hex;
    await send({ to: address, value: 10n ** 18n });
    await mintUsdc(address, 9n * UNIT);
    await published.delegate(wallet, published.simple7702);
    const bundle = await startBundler(sale.chain);
    const hash = await bundle(wallet, sale.usdc, approveData(sale.fund, 9n * UNIT));
    await expectCommitted(address, 9n * UNIT, hash);
  });
});

test('accepts an approval once, whichever of the users and partners that have proven its wallet asks', async () => {
  const { address } = sale.buyer(4);
  const hash = await sale.buyer(4).approve(6n * UNIT);
  await makeClient(sale.app.ctx, { clientId: 'partner-two' });
  await applyOffers(sale.app.ctx, [
    { ...saleOfferFile(sale.chain.deployment), partners: ['partner-one', 'partner-two'] },
  ]);
  const second = await person(sale.app, { clientId: 'partner-two', userId: userId(8) });
  await proveWallets(sale.app.ctx, [address], { clientId: 'partner-two', userId: userId(8) });
  await expect.poll(async () => (await second.call('GET', `/v1/offers/${sale.offer.id}`)).status).toBe(200);
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      (i % 2 === 0 ? second : sale.person).call(
        'POST',
        '/v1/participations',
        sale.request({ address }, BigInt(1 + (i % 3)) * UNIT, hash),
      ),
    ),
  );
  const ids = new Set(replies.filter(({ status }) => status === 200).map(({ body }) => body.id));
  expect(ids.size).toBe(1);
  const refused = replies.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['approval_already_used']));
});

describe('allowance and balance', () => {
  test('bypass the read cache', async () => {
    const chain = sale.app.ctx.chains.evm('ethereum_sepolia');
    const read = () => readAllowance(chain, sale.usdc, sale.buyer(0).address, sale.fund);
    // Uses up the rate limit for uncached reads, so that further reads are served from the cache.
    for (let i = 0; i < 200; i++) await read();
    const before = await read();
    const hash = await sale.buyer(0).approve(before + 5n * UNIT);
    const request = sale.request(sale.buyer(0), 5n * UNIT, hash);
    expect((await sale.person.call('POST', '/v1/participations', request)).body.status).toBe('pending');
    await saleWorker(sale).settle();
  });

  test('are unknown if the node lags behind the receipt, which fails nothing', async () => {
    const chain = sale.app.ctx.chains.evm('ethereum_sepolia');
    const notFound = new NodeError(-32_000, 'header not found', undefined);
    const batch: typeof chain.rpc.batch = async (calls) =>
      calls.some(({ method }) => method === 'eth_call')
        ? calls.map(() => ({ error: notFound }))
        : chain.rpc.batch(calls);
    const approvalHash = await sale.buyer(1).approve(5n * UNIT);
    const required = [
      {
        ...{ user: sale.buyer(1).address, fund: sale.fund, token: sale.usdc },
        ...{ amount: 5n * UNIT, approvalHash, source: null },
      },
    ];
    const lagging = { ...chain, rpc: { ...chain.rpc, batch } };
    const inspect = (view: typeof chain) => inspectApprovals(evmApprovalReader(view), required);
    expect(await inspect(lagging)).toEqual([{ state: 'unconfirmed' }]);
    expect(await inspect(chain)).toMatchObject([{ state: 'good', source: null }]);
  });

  test('of an unreadable token delay only its own participation', async () => {
    sale.pauseMining();
    const [stuck, other] = [
      await sale.participate(sale.buyer(3), 5n * UNIT),
      await sale.participate(sale.buyer(4), 5n * UNIT),
    ];
    await sale.mine(1);
    sale.resumeMining();
    const { worker, settle } = saleWorker(sale);
    const { chain } = worker.account;
    const reverted = new NodeError(3, 'execution reverted', '0x');
    const batch: typeof chain.rpc.batch = async (calls) => {
      const replies = await chain.rpc.batch(calls);
      const isAboutStuck = (i: number) =>
        calls[i]?.method === 'eth_call' && JSON.stringify(calls[i]).includes(sale.buyer(3).address.slice(2));
      return replies.map((reply, i) => (isAboutStuck(i) ? { error: reverted } : reply));
    };
    worker.account.chain = { ...chain, rpc: { ...chain.rpc, batch } };
    await settle();
    expect(await sale.statusOf(stuck.id)).toBe('prepared');
    expect(await sale.statusOf(other.id)).toBe('completed');
    worker.account.chain = chain;
    await settle();
    expect(await sale.statusOf(stuck.id)).toBe('completed');
  });

  test('fail a participation only once the invalid approval is confirmed', async () => {
    sale.pauseMining();
    const request = sale.request(sale.buyer(2), 5n * UNIT, await sale.buyer(2).approve(4n * UNIT));
    const id = String((await sale.person.call('POST', '/v1/participations', request)).body.id);
    const { worker, settle } = saleWorker(sale);
    const { chain } = worker.account;
    worker.account.chain = { ...chain, facts: { ...chain.facts, confirmations: 3 } };
    for (let depth = 1; depth < 3; depth++) {
      await sale.mine(1);
      await settle();
      expect(await sale.statusOf(id)).toBe('prepared');
    }
    await sale.mine(1);
    sale.resumeMining();
    await settle();
    expect(await sale.reasonOf(id)).toBe('approval_invalid: amount');
  });
});
