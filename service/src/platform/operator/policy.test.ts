import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { saleFundV2 } from '@causeway/contracts/abi/sale-fund-v2.ts';
import { type Abi, type Hex, parseTransaction, toFunctionSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import { realClock } from '../../kernel/clock.ts';
import type { ChainPolicy, SignerPolicy } from '../../kernel/config/operator-key.ts';
import type { KeyRole } from '../../kernel/config/role.ts';
import { encodeRevoke } from '../chain/evm/allow-list.ts';
import { encodeCommit, encodeRemit } from '../chain/evm/sale-fund.ts';
import { type SignerRules, withPolicy } from './policy.ts';
import { localSigner } from './signer.ts';
import { openSpendLedger } from './spend-ledger.ts';

const FUND: Hex = `0x${'fa'.repeat(20)}`;
const OTHER: Hex = `0x${'0b'.repeat(20)}`;
const row = {
  commitment: `0x${'01'.repeat(32)}`,
  user: OTHER,
  optionId: 'o',
  token: OTHER,
  amount: 5n,
} as const;
const key = localSigner(Buffer.alloc(32, 7));
const transaction = (change: object) => ({
  ...{ chainId: 1, nonce: 0, to: FUND, gas: 100_000n, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n },
  data: encodeCommit([row], 'single', 1),
  ...change,
});
const rulesOf = (policy: SignerPolicy, roles: readonly KeyRole[] = ['commit', 'refund']): SignerRules => ({
  ...{ policy, ledger: openSpendLedger(null, realClock()), clock: realClock() },
  hasRole: (role, chainId) => roles.includes(role) && [1, 8453].includes(chainId),
});
const signer = (policy: SignerPolicy) => withPolicy(key, rulesOf(policy));
const sign = (change: object, policy: SignerPolicy = null) =>
  signer(policy).signTransaction(transaction(change));
const limitedTo = (limits: Partial<ChainPolicy>): SignerPolicy =>
  new Map([[1, { targets: new Set([FUND]), dailyFee: null, dailyAmounts: null, ...limits }]]);

const calls: [string, Hex][] = ([1, 2] as const).flatMap((generation): [string, Hex][] => [
  [`a commit, generation ${generation}`, encodeCommit([row], 'single', generation)],
  [`a batch of commits, generation ${generation}`, encodeCommit([row, row], 'batch', generation)],
  [`a refund, generation ${generation}`, encodeRemit([row], generation)],
  [`a batch of refunds, generation ${generation}`, encodeRemit([row, row], generation)],
]);

describe('the signer', () => {
  test.each([...calls, ['a revocation', encodeRevoke(OTHER)] as [string, Hex]])(
    'signs %s',
    async (_name, data) => {
      expect(parseTransaction(await sign({ data }))).toMatchObject({ to: FUND, data });
    },
  );

  test('signs an empty transfer to itself, and to nobody else', async () => {
    await sign({ to: key.address, data: '0x' });
    await expect(sign({ to: OTHER, data: '0x' })).rejects.toThrow('an empty transfer');
  });

  test('refuses to send ether', async () => {
    await expect(sign({ value: 1n })).rejects.toThrow('a value of 1 wei');
    await expect(sign({ to: key.address, data: '0x', value: 1n })).rejects.toThrow('a value of 1 wei');
  });

  test('refuses to deploy a contract', async () => {
    await expect(sign({ to: undefined })).rejects.toThrow('to deploy a contract');
  });

  test('signs no bare hash and no text, which could stand for anything', () => {
    const open = { ...key, signHash: async () => '0x' };
    const members = ['address', 'signPermission', 'signRequest', 'signTransaction'];
    expect(Object.keys(withPolicy(open, rulesOf(null))).sort()).toEqual(members);
    expect(Object.keys(key).sort()).toEqual(members);
  });

  test('refuses every other function of a fund, such as its withdrawal', async () => {
    const allowed = new Set(calls.map(([, data]) => data.slice(0, 10)));
    const functions = [...(saleFund.abi as Abi), ...(saleFundV2.abi as Abi)].flatMap((item) =>
      item.type === 'function' ? [toFunctionSelector(item)] : [],
    );
    const others = functions.filter((selector) => !allowed.has(selector));
    expect(others.length).toBeGreaterThan(20);
    for (const data of others) await expect(sign({ data })).rejects.toThrow('not a settlement function');
  });

  test('refuses contracts that the policy file does not list for the chain', async () => {
    const targets = limitedTo({});
    await sign({}, targets);
    await sign({ to: key.address, data: '0x' }, targets);
    await expect(sign({ to: OTHER }, targets)).rejects.toThrow('does not list');
    await expect(sign({ chainId: 8453 }, targets)).rejects.toThrow('does not list');
  });

  test('spends no more on gas in 24 hours than the policy allows, replacements counted once', async () => {
    const { signTransaction } = signer(limitedTo({ dailyFee: 400_000n }));
    await signTransaction(transaction({ nonce: 0 }));
    await signTransaction(transaction({ nonce: 0, maxFeePerGas: 3n }));
    await expect(signTransaction(transaction({ nonce: 1 }))).rejects.toMatchObject({ reason: 'daily_limit' });
    await signTransaction(transaction({ nonce: 1, gas: 50_000n }));
  });

  test.each(calls)('moves no more tokens in 24 hours than the policy allows: %s', async (name, data) => {
    const amount = name.includes('batch') ? 10n : 5n;
    const limited = (limit: bigint) => signer(limitedTo({ dailyAmounts: new Map([[OTHER, limit]]) }));
    await limited(amount).signTransaction(transaction({ data }));
    const refused = limited(amount - 1n).signTransaction(transaction({ data }));
    await expect(refused).rejects.toThrow(`${amount} of ${OTHER}`);
    const { signTransaction } = limited(2n * amount - 1n);
    await signTransaction(transaction({ nonce: 0, data }));
    await expect(signTransaction(transaction({ nonce: 1, data }))).rejects.toThrow(`${2n * amount} of`);
  });

  test('moves no token that the limits do not name', async () => {
    const none = limitedTo({ dailyAmounts: new Map() });
    await expect(sign({}, none)).rejects.toThrow(`5 of ${OTHER}`);
    await sign({ data: encodeRevoke(OTHER) }, none);
  });

  test('refuses a call that is not encoded exactly, whose amounts another reader could see differently', async () => {
    const [, data] = calls[0] ?? [];
    const [, batch] = calls[1] ?? [];
    for (const odd of [
      `${data}00`,
      `${data}${'00'.repeat(32)}`,
      `${batch}${'00'.repeat(32)}`,
      data?.slice(0, -2),
    ])
      await expect(sign({ data: odd })).rejects.toThrow('a call with unreadable amounts');
    await expect(sign({ data: `${encodeRevoke(OTHER)}00` })).rejects.toThrow('unexpected length');
  });

  test('refuses access lists and authorizations, which could hand the account to a contract', async () => {
    const authorizationList = [{ address: OTHER, chainId: 1, nonce: 0 }];
    await expect(sign({ authorizationList })).rejects.toThrow('an authorization');
    await expect(sign({ accessList: [] })).rejects.toThrow('an access list');
  });

  test('counts the limits of a role for all of its keys together', async () => {
    const rules = rulesOf(limitedTo({ dailyAmounts: new Map([[OTHER, 5n]]) }));
    const other = localSigner(Buffer.alloc(32, 8));
    await withPolicy(key, rules).signTransaction(transaction({}));
    // Two keys can use the same nonce in separate transactions. Both transactions can be mined, so both count.
    await expect(withPolicy(other, rules).signTransaction(transaction({}))).rejects.toThrow(`10 of ${OTHER}`);
    const fees = rulesOf(limitedTo({ dailyFee: 300_000n }));
    await withPolicy(key, fees).signTransaction(transaction({}));
    await expect(withPolicy(other, fees).signTransaction(transaction({}))).rejects.toThrow('400000 of fees');
  });
});

describe('a key', () => {
  const roleOf = (name: string) =>
    name.startsWith('a refund') || name.includes('refunds') ? 'refund' : 'commit';
  const own = (role: KeyRole) => withPolicy(key, rulesOf(null, [role]));

  test.each([...calls, ['a revocation, a commit', encodeRevoke(OTHER)] as [string, Hex]])(
    'of another role does not sign %s',
    async (name, data) => {
      for (const role of ['commit', 'refund', 'quote', 'supplier'] as const) {
        const signing = own(role).signTransaction(transaction({ data }));
        if (role === roleOf(name)) await signing;
        else await expect(signing).rejects.toThrow(`to act as the ${roleOf(name)} key`);
      }
    },
  );

  test('of quotes or permissions signs no transaction at all, not even an empty one', async () => {
    for (const role of ['quote', 'supplier'] as const)
      await expect(own(role).signTransaction(transaction({ to: key.address, data: '0x' }))).rejects.toThrow(
        'the key sends no transactions there',
      );
  });

  test('of one chain signs nothing on another', async () => {
    const data = '0x';
    await expect(
      own('commit').signTransaction(transaction({ chainId: 10, to: key.address, data })),
    ).rejects.toThrow('the key sends no transactions there');
    await expect(own('commit').signTransaction(transaction({ chainId: 10 }))).rejects.toThrow(
      'to act as the commit key on chain 10',
    );
  });

  test('has the contracts and limits of its role', async () => {
    const limits = { targets: new Set([FUND]), dailyFee: null, dailyAmounts: null };
    const roles = new Map([['refund' as const, { ...limits, dailyAmounts: new Map([[OTHER, 4n]]) }]]);
    const { signTransaction } = signer(new Map([[1, { ...limits, roles }]]));
    await signTransaction(transaction({}));
    const data = encodeRemit([row], 2);
    await expect(signTransaction(transaction({ data }))).rejects.toThrow('5 of');
    const elsewhere = new Map([['refund' as const, { ...limits, targets: new Set([OTHER]) }]]);
    await expect(
      signer(new Map([[1, { ...limits, roles: elsewhere }]])).signTransaction(transaction({ data })),
    ).rejects.toThrow('does not list');
  });
});

describe('a quote request', () => {
  const now = () => BigInt(Math.floor(Date.now() / 1000));
  const domain = { name: 'Swap', version: '1', chainId: 1, verifyingContract: FUND };
  const request = (change: object = {}) => ({
    ...{ side: 0, inputToken: OTHER, outputToken: FUND, sender: OTHER, nonce: 0n, amount: 5n },
    ...{ expiry: now() + 60n, ...change },
  });
  const quoter = (policy: SignerPolicy, roles: readonly KeyRole[] = ['quote']) =>
    withPolicy(key, rulesOf(policy, roles));

  test('is signed only by a quote key, for a listed contract of the chain', async () => {
    const listed = limitedTo({});
    await quoter(listed).signRequest(domain, request());
    for (const role of ['commit', 'refund', 'supplier'] as const)
      await expect(quoter(listed, [role]).signRequest(domain, request())).rejects.toThrow('quote key');
    const elsewhere = { ...domain, verifyingContract: OTHER };
    await expect(quoter(listed).signRequest(elsewhere, request())).rejects.toThrow('does not list');
    await expect(quoter(listed).signRequest({ ...domain, chainId: 8453 }, request())).rejects.toThrow(
      'does not list',
    );
  });

  test('must be a buy that ends within ten minutes', async () => {
    await expect(quoter(null).signRequest(domain, request({ side: 1 }))).rejects.toThrow('side 1');
    await quoter(null).signRequest(domain, request({ expiry: now() + 500n }));
    await expect(quoter(null).signRequest(domain, request({ expiry: now() + 700n }))).rejects.toThrow(
      'more than 600 seconds',
    );
  });

  test('counts against the daily amounts, requests that exclude each other once', async () => {
    const { signRequest } = quoter(limitedTo({ dailyAmounts: new Map([[OTHER, 9n]]) }));
    await signRequest(domain, request());
    await signRequest(domain, request());
    await expect(signRequest(domain, request({ nonce: 1n }))).rejects.toMatchObject({
      reason: 'daily_limit',
    });
    await expect(signRequest(domain, request({ sender: FUND }))).rejects.toThrow('10 of');
    await signRequest(domain, request({ sender: FUND, amount: 4n }));
    await expect(signRequest(domain, request({ inputToken: FUND, amount: 1n }))).rejects.toThrow('1 of');
  });
});

describe('a permission', () => {
  const now = () => BigInt(Math.floor(Date.now() / 1000));
  const domain = { name: 'List', version: '1', chainId: 1, verifyingContract: FUND };
  const permission = (change: object = {}) => ({
    ...{ wallet: OTHER, offer: `0x${'01'.repeat(32)}` as Hex, nonce: 0n, deadline: now() + 600n },
    ...change,
  });
  const supplier = (policy: SignerPolicy, roles: readonly KeyRole[] = ['supplier']) =>
    withPolicy(key, rulesOf(policy, roles));

  test('is signed only by a supplier key, for a listed contract of the chain', async () => {
    const listed = limitedTo({});
    await supplier(listed).signPermission(domain, permission());
    for (const role of ['commit', 'refund', 'quote'] as const)
      await expect(supplier(listed, [role]).signPermission(domain, permission())).rejects.toThrow(
        'supplier key',
      );
    const elsewhere = { ...domain, verifyingContract: OTHER };
    await expect(supplier(listed).signPermission(elsewhere, permission())).rejects.toThrow('does not list');
  });

  test('must end within an hour, whatever time a node reports', async () => {
    await expect(
      supplier(null).signPermission(domain, permission({ deadline: now() + 3_700n })),
    ).rejects.toThrow('more than 3600 seconds');
  });

  test('counts against the daily number of permissions', async () => {
    const { signPermission } = supplier(limitedTo({ dailyAmounts: new Map([['permissions', 1n]]) }));
    await signPermission(domain, permission());
    await signPermission(domain, permission());
    await expect(signPermission(domain, permission({ wallet: FUND }))).rejects.toThrow('2 of permissions');
  });
});
