import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { saleFundV2 } from '@causeway/contracts/abi/sale-fund-v2.ts';
import { type Abi, type Hex, parseTransaction, toFunctionSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import { encodeRevoke } from '../chain/evm/allow-list.ts';
import { encodeCommit, encodeRemit } from '../chain/evm/sale-fund.ts';
import { realClock } from '../clock.ts';
import { type ChainPolicy, type SignerPolicy, withPolicy } from './policy.ts';
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
const signer = (policy: SignerPolicy) => withPolicy(key, policy, openSpendLedger(null, realClock()));
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

  test('signs no bare hash, which could be of a transaction', () => {
    const open = { ...key, signHash: async () => '0x' };
    const members = ['address', 'signMessage', 'signRequest', 'signTransaction'];
    expect(Object.keys(withPolicy(open, null, openSpendLedger(null, realClock()))).sort()).toEqual(members);
    expect(Object.keys(key).sort()).toEqual(members);
  });

  test('refuses every other function of a fund, such as its withdrawal', async () => {
    const allowed = new Set(calls.map(([, data]) => data.slice(0, 10)));
    const functions = [...(saleFund.abi as Abi), ...(saleFundV2.abi as Abi)].flatMap((item) =>
      item.type === 'function' ? [toFunctionSelector(item)] : [],
    );
    const others = functions.filter((selector) => !allowed.has(selector));
    expect(others.length).toBeGreaterThan(20);
    for (const data of others) await expect(sign({ data })).rejects.toThrow('not a function of settlement');
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
});
