import { multicall3 } from '@causeway/contracts/abi/multicall3.ts';
import { hostileToken } from '@causeway/contracts/abi/test/hostile-token.ts';
import { rebasingToken } from '@causeway/contracts/abi/test/rebasing-token.ts';
import { trustingFund } from '@causeway/contracts/abi/test/trusting-fund.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { MULTICALL_ADDRESS } from '@causeway/sandbox/simulators/chains/genesis.ts';
import type { Hex } from 'viem';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { grantRoles } from '../../../test/support/fund-v2.ts';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { blockedCount, firstAttempt, useSale } from '../../../test/support/settlement.ts';
import { encodeCommit } from '../../platform/chain/evm/sale-fund.ts';
import { requestRemit } from '../participations/refunds.ts';

let token: Hex;
const sale = useSale({
  makeFund: async (chain) => {
    const fund = await chain.create(trustingFund, [roles.owner.address]);
    await grantRoles(chain, fund, roles.operator.address);
    return fund;
  },
});

const write = (functionName: 'mint' | 'treat', args: readonly [Hex, bigint]) =>
  sale.chain.owner.writeContract({
    ...{ address: token, abi: hostileToken.abi, functionName, args, gas: 200_000n },
  } as never);

/** Sets the offer's funding token. Writes directly to the database, because `offer apply` would reject the token. */
async function fundBy(address: Hex): Promise<void> {
  token = address;
  const tokens = 'update offer_funding_tokens set address = $1 where asset_id = $2';
  await sale.app.ctx.pool.query(tokens, [address, 'usd-coin']);
}

beforeAll(async () => {
  await fundBy(await sale.chain.create(hostileToken, []));
  for (const { address } of sale.buyers) await write('mint', [address, 1_000n * UNIT]);
});

/** Approves the amount `times` times over, because the wallet may have other open participations. */
async function participate(index: number, amount: bigint, times = 1n): Promise<string> {
  const buyer = sale.buyer(index);
  const hash = await buyer.approve(times * amount, { token });
  const request = sale.request(buyer, amount, hash);
  // Polls, because the node learns of the changed offer only through a notification.
  await expect
    .poll(async () => (await sale.person.call('POST', '/v1/participations', request)).body.status)
    .toBe('pending');
  const { body } = await sale.person.call('POST', '/v1/participations', request);
  return String(body.id);
}

test('a token that burns all gas for one user fails that row alone, in a fund without a gas cap per row', async () => {
  const ids = [];
  for (const index of [0, 1, 2]) ids.push(await participate(index, 5n * UNIT));
  await write('treat', [sale.buyer(1).address, 2n]);
  const { settle } = saleWorker(sale);
  await settle();
  await settle();
  const statuses = await Promise.all(ids.map((id) => sale.statusOf(id)));
  expect(statuses).toEqual(['completed', 'failed', 'completed']);
  expect(await sale.reasonOf(ids[1] ?? '')).toBe('transfer_refused');
  await write('treat', [sale.buyer(1).address, 0n]);
});

test('a token that refuses every transfer for a while fails no row, and delays no row of another token', async () => {
  const ids = [];
  for (const index of [0, 1, 2]) ids.push(await participate(index, 5n * UNIT));
  const hash = await sale.buyer(3).approve(5n * UNIT, { token: sale.usdt });
  const request = { ...sale.request(sale.buyer(3), 5n * UNIT, hash), asset_id: 'tether' };
  const { body } = await sale.person.call('POST', '/v1/participations', request);
  await write('treat', [sale.fund, 4n]);
  await saleWorker(sale).settle();
  expect(new Set(await Promise.all(ids.map((id) => sale.statusOf(id))))).toEqual(new Set(['pending']));
  expect(await sale.statusOf(String(body.id))).toBe('completed');
  expect(await blockedCount(sale, 'transfers_refused')).toBeGreaterThan(0);
  await write('treat', [sale.fund, 0n]);
  await saleWorker(sale).settle();
  expect(new Set(await Promise.all(ids.map((id) => sale.statusOf(id))))).toEqual(new Set(['completed']));
});

test.each([
  ['one participation of a blocked wallet', [1]],
  ['several participations of a blocked wallet', [1, 1]],
  ['participations of several blocked wallets', [1, 2]],
])(
  'a token that blocks wallets fails %s, which would otherwise keep their supply',
  async (_which, buyers) => {
    const ids = [];
    for (const [i, index] of buyers.entries()) ids.push(await participate(index, 5n * UNIT, BigInt(i + 1)));
    for (const index of buyers) await write('treat', [sale.buyer(index).address, 4n]);
    await saleWorker(sale).settle();
    expect(await Promise.all(ids.map((id) => sale.statusOf(id)))).toEqual(ids.map(() => 'failed'));
    for (const index of buyers) await write('treat', [sale.buyer(index).address, 0n]);
  },
);

test('refunds wait while their token refuses every transfer, and one fails if the token blocks its wallet', async () => {
  const ids = [await participate(0, 5n * UNIT), await participate(1, 5n * UNIT)];
  const statuses = () => Promise.all(ids.map((id) => sale.statusOf(id)));
  const { settle } = saleWorker(sale);
  await settle();
  expect(await statuses()).toEqual(['completed', 'completed']);
  await write('treat', [sale.fund, 4n]);
  for (const id of ids) await requestRemit(sale.app.ctx, id);
  await settle();
  expect(await statuses()).toEqual(['remit_submitted', 'remit_submitted']);
  expect(await blockedCount(sale, 'transfers_refused')).toBeGreaterThan(0);
  await write('treat', [sale.fund, 0n]);
  await write('treat', [sale.buyer(1).address, 4n]);
  await settle();
  expect(await statuses()).toEqual(['remitted', 'remit_failed']);
  await write('treat', [sale.buyer(1).address, 0n]);
});

test('a token that charges a fee completes its row with a reason, and raises an alert', async () => {
  await write('treat', [sale.buyer(3).address, 1n]);
  const charged = await participate(3, 100n * UNIT);
  const exact = await participate(4, 100n * UNIT);
  await saleWorker(sale).settle();
  expect([await sale.statusOf(charged), await sale.statusOf(exact)]).toEqual(['completed', 'completed']);
  expect(await sale.reasonOf(charged)).toBe('transfer_differs: 99000000 instead of 100000000');
  expect(await sale.reasonOf(exact)).toBeNull();
  expect(await blockedCount(sale, 'transfer_differs')).toBeGreaterThan(0);
});

describe('a token that emits `Approval` in `transferFrom`', () => {
  const NOT_AN_APPROVAL = { code: 'approval_invalid', errors: { reason: 'not_an_approval' } };
  const reuse = async (amount: bigint, hash: Hex) =>
    (await sale.person.call('POST', '/v1/participations', sale.request(sale.buyer(0), amount, hash))).body;
  beforeAll(async () => {
    await write('treat', [sale.buyer(0).address, 3n]);
    await grantRoles(sale.chain, sale.fund, MULTICALL_ADDRESS);
  });
  afterEach(() => sale.resumeMining());

  test('does not turn a commit into another approval, neither before nor after it is mined', async () => {
    const hash = await sale.buyer(0).approve(1_000n * UNIT, { token });
    const { body } = await sale.person.call(
      'POST',
      '/v1/participations',
      sale.request(sale.buyer(0), 100n * UNIT, hash),
    );
    sale.pauseMining();
    const { round, settle } = saleWorker(sale);
    await round();
    const commit = await firstAttempt(sale, String(body.id));
    expect(await reuse(300n * UNIT, commit.hash)).toMatchObject(NOT_AN_APPROVAL);
    await sale.mine(1);
    await settle();
    expect(await sale.statusOf(String(body.id))).toBe('completed');
    expect(await reuse(300n * UNIT, commit.hash)).toMatchObject(NOT_AN_APPROVAL);
  });

  test('does not turn a commit that another operator sends through a multicall into an approval', async () => {
    const row = { commitment: '0x', user: sale.buyer(0).address, optionId: sale.option, token } as const;
    const callData = encodeCommit([{ ...row, amount: 50n * UNIT }], 'single', 1);
    const hash = await sale.chain.owner.writeContract({
      ...{ address: MULTICALL_ADDRESS, abi: multicall3.abi, functionName: 'aggregate3', gas: 1_000_000n },
      args: [[{ target: sale.fund, allowFailure: false, callData }]],
    } as never);
    expect(await sale.chain.direct.getTransactionReceipt({ hash })).toMatchObject({ status: 'success' });
    expect(await reuse(300n * UNIT, hash)).toMatchObject(NOT_AN_APPROVAL);
  });
});

describe('a rebasing token', () => {
  const rebase = (factor: bigint) =>
    sale.chain.owner.writeContract({
      ...{ address: token, abi: rebasingToken.abi, functionName: 'rebase', args: [factor] },
    });
  const readBalance = async (index: number) => {
    const owner = sale.buyer(index).address;
    const query = new URLSearchParams({ token_address: token, owner, chain: 'ethereum_sepolia' });
    return (await sale.person.call('GET', `/v1/token/balance?${query}`)).body.balance;
  };
  beforeAll(async () => {
    await fundBy(await sale.chain.create(rebasingToken, undefined));
    await write('mint', [sale.buyer(0).address, 5n * UNIT]);
    await write('mint', [sale.buyer(1).address, 500n * UNIT]);
    await rebase(3n);
  });

  test('fails only the row whose balance has shrunk below its amount', async () => {
    const [poorer, rich] = [await participate(0, 10n * UNIT), await participate(1, 10n * UNIT)];
    expect(await readBalance(0)).toBe('15000000');
    await rebase(1n);
    await expect.poll(() => readBalance(0)).toBe('5000000');
    await saleWorker(sale).settle();
    expect([await sale.statusOf(poorer), await sale.statusOf(rich)]).toEqual(['failed', 'completed']);
    expect(await sale.reasonOf(poorer)).toBe('insufficient_balance');
  });

  test('that moves less than the amount completes the row with a reason', async () => {
    await rebase(3n);
    const rounded = await participate(1, 10n * UNIT);
    await saleWorker(sale).settle();
    expect(await sale.statusOf(rounded)).toBe('completed');
    expect(await sale.reasonOf(rounded)).toBe('transfer_differs: 9999999 instead of 10000000');
  });
});
