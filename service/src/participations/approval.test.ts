import { multicall3 } from '@causeway/contracts/abi/multicall3.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { MULTICALL_ADDRESS } from '@causeway/sandbox/simulators/chains/genesis.ts';
import { createWalletClient, custom, encodeFunctionData, type Hex, parseAbi, parseSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishWallets } from '../../test/support/contract-wallets.ts';
import { type Sale, saleWorker, startSale, UNIT } from '../../test/support/sale.ts';
import { evmWallet } from '../../test/support/wallets.ts';
import { readAllowance } from '../chain/evm/erc20.ts';
import { NodeError } from '../chain/evm/failures.ts';
import { inspectApprovals } from './approval.ts';

/** Approvals whose transaction does not call the token: they are judged by what happened, not by what was asked for. */

let sale: Sale;
let published: Awaited<ReturnType<typeof publishWallets>>;

beforeAll(async () => {
  sale = await startSale();
  published = await publishWallets(sale.chain);
});
afterAll(() => sale.close());

const send = (call: { to: Hex; data?: Hex; value?: bigint }, account = roles.deployer) =>
  createWalletClient({ account, chain: sepolia, transport: custom(sale.chain.chain) }).sendTransaction({
    ...call,
    gas: 1_000_000n,
  });

async function giveDollars(to: Hex, amount: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: token.abi, functionName: 'mint', args: [to, amount] });
  await send({ to: sale.usdc, data });
}

const approve = (spender: Hex, amount: bigint) =>
  encodeFunctionData({ abi: token.abi, functionName: 'approve', args: [spender, amount] });

/** Takes part, settles, and compares with the fund. */
async function expectTaken(address: Hex, amount: bigint, hash: Hex): Promise<void> {
  const { to } = await sale.chain.direct.getTransaction({ hash });
  expect(to).not.toBe(sale.usdc);
  const asked = sale.request({ address }, amount, hash);
  const { body } = await sale.person.call('POST', '/v1/participations', asked);
  expect(body).toMatchObject({ status: 'pending', wallet_address: address });
  await saleWorker(sale).settle();
  expect(await sale.statusOf(String(body.id))).toBe('completed');
  expect(await sale.totalsOf(address)).toEqual({ count: 1n, sum: amount, remitted: 0n });
}

/** What the contract is asked with, and refused for. */
async function refusalOf(address: Hex, amount: bigint, hash: Hex) {
  const { body } = await sale.person.call(
    'POST',
    '/v1/participations',
    sale.request({ address }, amount, hash),
  );
  return { code: body.code, ...(body.errors as object) };
}

describe('an approval inside a multicall', () => {
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

  const together = (calls: Hex[]) =>
    send({
      to: MULTICALL_ADDRESS,
      data: encodeFunctionData({
        ...{ abi: multicall3.abi, functionName: 'aggregate3' },
        args: [calls.map((callData) => ({ target: sale.usdc, allowFailure: false, callData }))],
      } as never),
    });

  test('is as good as a call of approve', async () => {
    await giveDollars(address, 8n * UNIT);
    // The approvals of others are in the same receipt, before it and after it.
    const calls = [
      approve(sale.fund, 1n),
      await permit(8n * UNIT, 0n),
      approve(roles.owner.address, 9n * UNIT),
    ];
    await expectTaken(address, 8n * UNIT, await together(calls));
  });

  test('does not count for whoever sent it, nor for another wallet', async () => {
    const hash = await together([approve(sale.fund, 8n * UNIT)]);
    const sender = roles.deployer.address.toLowerCase() as Hex;
    const wrong = { code: 'approval_invalid', reason: 'owner' };
    expect(await refusalOf(sender, 8n * UNIT, hash)).toEqual(wrong);
    expect(await refusalOf(address, 8n * UNIT, hash)).toEqual(wrong);
  });
});

describe('an approval by a contract wallet', () => {
  test('that its owners have signed and somebody else has sent is as good as a call of approve', async () => {
    const safe = await published.safeWallet('investor');
    const address = safe.address.toLowerCase() as Hex;
    await giveDollars(address, 30n * UNIT);
    const hash = await safe.execute(sale.usdc, approve(sale.fund, 30n * UNIT));
    expect(await refusalOf(roles.owner.address.toLowerCase() as Hex, 30n * UNIT, hash)).toEqual({
      ...{ code: 'approval_invalid', reason: 'owner' },
    });
    await expectTaken(address, 30n * UNIT, hash);
  });

  test('that is a key with the code of a contract, in a batch with other calls, is as good as well', async () => {
    const wallet = evmWallet('delegated');
    const account = privateKeyToAccount(wallet.key);
    const address = account.address.toLowerCase() as Hex;
    await send({ to: address, value: 10n ** 18n });
    await giveDollars(address, 12n * UNIT);
    await published.delegate(wallet, published.simple7702);
    const abi = parseAbi(['function executeBatch((address target, uint256 value, bytes data)[] calls)']);
    const calls = [approve(sale.fund, 0n), approve(sale.fund, 12n * UNIT)];
    const data = encodeFunctionData({
      ...{ abi, functionName: 'executeBatch' },
      args: [calls.map((one) => ({ target: sale.usdc, value: 0n, data: one }))],
    });
    await expectTaken(address, 12n * UNIT, await send({ to: address, data }, account));
  });
});

describe('what holds now', () => {
  const at = (i: number) => sale.buyer(i);

  test('is asked of the chain, however often it was asked before', async () => {
    const chain = sale.app.ctx.chains.evm('ethereum_sepolia');
    const look = () => readAllowance(chain, sale.usdc, at(0).address, sale.fund);
    // So many that the chain is not asked again for a while.
    for (let i = 0; i < 200; i++) await look();
    const before = await look();
    const hash = await at(0).approve(before + 5n * UNIT);
    const asked = sale.request(at(0), 5n * UNIT, hash);
    expect((await sale.person.call('POST', '/v1/participations', asked)).body.status).toBe('pending');
    await saleWorker(sale).settle();
  });

  test('is unknown to a node that lags behind the receipt, and nothing fails for that', async () => {
    const chain = sale.app.ctx.chains.evm('ethereum_sepolia');
    const refused = new NodeError(-32_000, 'header not found', undefined);
    const batch: typeof chain.rpc.batch = async (calls) =>
      calls.some(({ method }) => method === 'eth_call')
        ? calls.map(() => ({ error: refused }))
        : chain.rpc.batch(calls);
    const approvalHash = await at(1).approve(5n * UNIT);
    const wanted = [
      { user: at(1).address, fund: sale.fund, token: sale.usdc, amount: 5n * UNIT, approvalHash },
    ];
    const lagging = { ...chain, rpc: { ...chain.rpc, batch } };
    expect(await inspectApprovals(lagging, wanted)).toEqual([{ state: 'unconfirmed' }]);
    expect(await inspectApprovals(chain, wanted)).toEqual([{ state: 'good' }]);
  });

  test('that a token does not tell keeps its participation waiting, and no other', async () => {
    sale.chain.chain.setBlockInterval(1e8);
    const [stuck, other] = [
      await sale.participate(at(3), 5n * UNIT),
      await sale.participate(at(4), 5n * UNIT),
    ];
    await sale.chain.chain.mine(1);
    sale.chain.chain.setBlockInterval(0);
    const { worker, settle } = saleWorker(sale);
    const { chain } = worker.operator;
    const reverted = new NodeError(3, 'execution reverted', '0x');
    const batch: typeof chain.rpc.batch = async (calls) => {
      const replies = await chain.rpc.batch(calls);
      const isOfStuck = (i: number) =>
        calls[i]?.method === 'eth_call' && JSON.stringify(calls[i]).includes(at(3).address.slice(2));
      return replies.map((reply, i) => (isOfStuck(i) ? { error: reverted } : reply));
    };
    worker.operator.chain = { ...chain, rpc: { ...chain.rpc, batch } };
    await settle();
    expect(await sale.statusOf(stuck.id)).toBe('prepared');
    expect(await sale.statusOf(other.id)).toBe('completed');
    worker.operator.chain = chain;
    await settle();
    expect(await sale.statusOf(stuck.id)).toBe('completed');
  });

  test('is wrong for good only when it is confirmed', async () => {
    sale.chain.chain.setBlockInterval(1e8);
    const asked = sale.request(at(2), 5n * UNIT, await at(2).approve(4n * UNIT));
    const id = String((await sale.person.call('POST', '/v1/participations', asked)).body.id);
    const { worker, settle } = saleWorker(sale);
    const { chain } = worker.operator;
    worker.operator.chain = { ...chain, facts: { ...chain.facts, confirmations: 3 } };
    for (let depth = 1; depth < 3; depth++) {
      await sale.chain.chain.mine(1);
      await settle();
      expect(await sale.statusOf(id)).toBe('prepared');
    }
    await sale.chain.chain.mine(1);
    sale.chain.chain.setBlockInterval(0);
    await settle();
    expect(await sale.reasonOf(id)).toBe('approval_invalid: amount');
  });
});
