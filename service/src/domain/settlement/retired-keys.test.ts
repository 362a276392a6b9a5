import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { type Hex, recoverTransactionAddress, toHex } from 'viem';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import {
  commitAttempts,
  dropFromPool,
  expectDatabaseToMatchFund,
  firstAttempt,
  useSale,
} from '../../../test/support/settlement.ts';
import { createMetrics } from '../../kernel/metrics.ts';
import type { Context } from '../../platform/context/context.ts';
import { feeLimits } from '../../platform/operator/account.ts';
import { planReplacement, requestReplacement } from '../../platform/operator/replacement.ts';
import { localSigner, type Signer } from '../../platform/operator/signer.ts';
import { cancelParticipation } from '../participations/cancel.ts';
import { planEvmRotation } from './rotate.ts';
import { FOLLOW_TIMINGS, startSettlement } from './settlement.ts';

const sale = useSale();
const newKey = localSigner(Buffer.alloc(32, 5));
const COMMIT_AND_REMIT = 6n;
const NEVER = 1e6;
let oldKey: Signer;
let open: string;

beforeAll(async () => {
  await sale.chain.chain.request({
    method: 'hardhat_setBalance',
    params: [newKey.address, toHex(10n ** 18n)],
  });
  const call = { address: sale.fund, abi: saleFund.abi, functionName: 'grantRoles', gas: 200_000n };
  await sale.chain.owner.writeContract({ ...call, args: [newKey.address, COMMIT_AND_REMIT] } as never);
  const signer = sale.app.ctx.signerOf('commit', 'ethereum_sepolia');
  if (signer === null) throw new Error('the app has no operator key');
  oldKey = signer;
  ({ id: open } = await sale.participate(sale.buyer(0), 5n * UNIT));
  sale.pauseMining();
  await saleWorker(sale).round();
  // The node drops the transaction, so that the transaction stays open while other transactions are mined.
  await dropFromPool(sale, (await firstAttempt(sale, open)).hash);
  sale.resumeMining();
});
afterEach(() => sale.resumeMining());

/** The context of a node that was restarted with the new key, and with the old one in `OPERATOR_RETIRED_KEYS`. */
const rotated = (retiredSigners: Context['retiredSigners']): Context => ({
  ...{ ...sale.app.ctx, signerOf: () => newKey, metrics: createMetrics(), retiredSigners },
});
const listed = () => rotated([{ signer: oldKey, roles: ['commit', 'refund'] }]);
const plan = () => {
  const { db, chains } = sale.app.ctx;
  return planEvmRotation(db, chains.evm('ethereum_sepolia'), newKey.address, ['commit', 'refund']);
};
const sendersOf = async (id: string) =>
  Promise.all(
    (await commitAttempts(sale, id)).map(async ({ raw }) =>
      (await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toLowerCase(),
    ),
  );

test('a start refuses while an unlisted replaced key has unfinished transactions', async () => {
  expect(await sale.statusOf(open)).toBe('submitted');
  await expect(startSettlement(rotated([]))).rejects.toThrow(
    /OPERATOR_RETIRED_KEYS: must list the replaced operator key 0x[0-9a-f]{40}, which has 1 unfinished transaction \(commit\) on ethereum_sepolia/,
  );
  // A node without any EVM key may start: it settles nothing, and the old key may be another node's current key.
  const keyless = { ...rotated([]), signerOf: () => null };
  await (await startSettlement(keyless)).stop();
  expect(sale.app.logged()).toContain('another node must finish the transactions of an operator key');
  // If the old key were listed for refunds only, it could not replace its commit.
  await expect(startSettlement(rotated([{ signer: oldKey, roles: ['refund'] }]))).rejects.toThrow(
    'must list the replaced operator key',
  );
});

test('a start refuses while a chain without an RPC URL has open transactions of a key', async () => {
  const { ctx } = sale.app;
  const chains = { ...ctx.chains, all: () => [] };
  const removed: Context = { ...ctx, metrics: createMetrics(), chains };
  const { id: waiting } = await sale.participate(sale.buyer(3), 5n * UNIT);
  await expect(startSettlement(removed)).rejects.toThrow(
    /RPC_URL_ETHEREUM_SEPOLIA: must stay set while 0x[0-9a-f]{40} has open transactions on ethereum_sepolia \(1\)/,
  );
  // A node without the key may start, because it settles nothing on the chain.
  await (await startSettlement({ ...removed, signerOf: () => null })).stop();
  // If another node has the key, this node may start too, but it logs that participations wait.
  const remote = { role: 'commit', chain: 'ethereum_sepolia', key: null, address: oldKey.address } as const;
  const config = { ...ctx.config, roleKeys: [remote] };
  const message = 'participations wait on a chain without an RPC URL';
  expect(sale.app.logged()).not.toContain(message);
  await (await startSettlement({ ...removed, metrics: createMetrics(), config })).stop();
  expect(sale.app.logged()).toContain(message);
  await cancelParticipation(ctx, waiting);
});

test('the new key takes over while a transaction of the old key is open, which the old key then replaces', async () => {
  const { is_ready, unfinished } = await plan();
  expect({ is_ready, unfinished }).toEqual({
    is_ready: true,
    unfinished: [{ address: oldKey.address, transactions: 1 }],
  });
  const idle = { ...FOLLOW_TIMINGS, resendSeconds: NEVER, bumpSeconds: NEVER };
  const first = await startSettlement(listed(), idle);
  const { id } = await sale.participate(sale.buyer(1), 5n * UNIT);
  await expect.poll(() => sale.statusOf(id), { timeout: 15_000 }).toBe('completed');
  expect(await sendersOf(id)).toEqual([newKey.address]);
  expect(await sale.statusOf(open)).toBe('submitted');
  await first.stop();

  // An operator asks for a replacement (`causeway operator bump`), which only the old key can sign.
  const { db, config, chains } = sale.app.ctx;
  const fees = feeLimits(config, 'ethereum_sepolia');
  const choice = { action: 'bump', address: oldKey.address } as const;
  await requestReplacement(db, await planReplacement(db, chains.evm('ethereum_sepolia'), fees, choice));
  sale.pauseMining();
  // A node without a current key also follows the retired keys.
  const roles = ['commit', 'refund'] as const;
  const retired = rotated([oldKey, newKey].map((signer) => ({ signer, roles })));
  const withoutKey = { ...retired, signerOf: () => null };
  const second = await startSettlement(withoutKey, { ...FOLLOW_TIMINGS, resendSeconds: 0 });
  await expect.poll(async () => (await sendersOf(open)).length, { timeout: 15_000 }).toBeGreaterThan(1);
  sale.resumeMining();
  await sale.mine(1);
  await expect.poll(() => sale.statusOf(open), { timeout: 15_000 }).toBe('completed');
  await second.stop();
  expect(new Set(await sendersOf(open))).toEqual(new Set([oldKey.address]));
  await expectDatabaseToMatchFund(sale);
});

test('a start without the RPC URL of a chain only warns if no transaction is open there', async () => {
  const { ctx } = sale.app;
  const removed: Context = { ...ctx, metrics: createMetrics(), chains: { ...ctx.chains, all: () => [] } };
  const message = 'settled transactions are not checked for reorganizations: the chain has no RPC URL';
  expect(sale.app.logged()).not.toContain(message);
  await (await startSettlement(removed)).stop();
  expect(sale.app.logged()).toContain(message);
});

test('the old key is followed until its last transaction is final, and sends nothing new', async () => {
  const nonce = () => sale.chain.direct.getTransactionCount({ address: oldKey.address as Hex });
  const before = await nonce();
  expect((await plan()).unfinished).toMatchObject([{ address: oldKey.address }]);
  await expect(startSettlement(rotated([]))).rejects.toThrow('must list the replaced operator key');
  const settlement = await startSettlement(listed());
  const { id } = await sale.participate(sale.buyer(2), 5n * UNIT);
  await expect.poll(() => sale.statusOf(id), { timeout: 15_000 }).toBe('completed');
  await sale.mine(300);
  await expect.poll(async () => (await plan()).unfinished, { timeout: 15_000 }).toEqual([]);
  await settlement.stop();
  expect((await plan()).steps.join()).toContain(`${oldKey.address} has nothing left to finish`);
  expect(await sendersOf(id)).toEqual([newKey.address]);
  expect(await nonce()).toBe(before);
  await (await startSettlement(rotated([]))).stop();
});
