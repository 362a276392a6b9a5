import { expect, test } from 'vitest';
import type { Wallet } from '../../flows/wallet.ts';
import { findLatest, findUnfinishedSale, parseUnfinishedSale } from './unfinished-sale.ts';

test('an unfinished purchase is read back from storage, and anything else is ignored', () => {
  const sale = {
    ...{
      id: 'i',
      offerId: 'a',
      fund: '0xf1',
      optionId: 'o',
      chain: 'base_sepolia',
      assetId: 'usd-coin',
      amount: '50000000',
      wallet: '0x1',
    },
    approvalHash: `0x${'ab'.repeat(32)}`,
  };
  expect(parseUnfinishedSale(JSON.stringify(sale))).toEqual(sale);
  const intent = { ...sale, approvalHash: null };
  expect(parseUnfinishedSale(JSON.stringify(intent))).toEqual(intent);
  const invalid = [
    { ...sale, id: undefined },
    { ...sale, fund: undefined },
    { ...sale, chain: 'toString' },
    { ...sale, chain: 'dogecoin' },
    { ...sale, amount: '0' },
    { ...sale, amount: '1.5' },
    { ...sale, approvalHash: '0x1' },
    { ...sale, approvalHash: undefined },
  ];
  for (const text of [null, '', '{', 'null', '[]', '{}', ...invalid.map((one) => JSON.stringify(one))])
    expect(parseUnfinishedSale(text)).toBeNull();
});

test('a purchase is unfinished if its approval is known, or if its wallet has an open one that covers it', () => {
  const owner = `0x${'ab'.repeat(20)}`;
  const wallet = { protocol: 'ethereum', address: owner.toUpperCase().replace('X', 'x') } as Wallet;
  const place = { chain: 'base_sepolia', assetId: 'usd-coin' } as const;
  const intent = {
    id: 'i',
    offerId: 'a',
    fund: '0xf1',
    ...place,
    optionId: 'o',
    amount: '50',
    wallet: owner,
    approvalHash: null,
  };
  const approved = { ...intent, approvalHash: '0x1' };
  const open = { ...place, amount: '50' };
  const find = findUnfinishedSale;
  expect(find([approved], [], undefined)).toBe(approved);
  expect(find([intent], [open], wallet)).toBe(intent);
  // The purchase with a known approval comes first: the open approval may belong to that purchase.
  expect(find([intent, approved], [open], wallet)).toBe(approved);
  const others = [
    find([], [open], wallet),
    find([intent], [], wallet),
    find([intent], [open], undefined),
    find([intent], [open], { ...wallet, address: '0x2' } as Wallet),
    find([intent], [{ ...open, amount: '49' }], wallet),
    find([intent], [{ ...open, chain: 'ethereum_sepolia' }], wallet),
    find([intent], [{ ...open, assetId: 'tether' }], wallet),
  ];
  expect(others).toEqual(others.map(() => null));
});

test('what is recorded of a purchase counts, unless only the page has its approval', () => {
  const place = {
    chain: 'base_sepolia',
    assetId: 'usd-coin',
    offerId: 'a',
    fund: '0xf1',
    optionId: 'o',
    wallet: '0x1',
  } as const;
  const started = { id: 'i', ...place, amount: '50', approvalHash: null };
  const approved = { ...started, approvalHash: '0x1' };
  const replaced = { ...started, approvalHash: '0x2' };
  expect(findLatest([replaced], approved)).toBe(replaced);
  expect(findLatest([replaced], started)).toBe(replaced);
  expect(findLatest([started], approved)).toBe(approved);
  expect(findLatest([{ ...replaced, id: 'j' }], approved)).toBe(approved);
  expect(findLatest([{ ...replaced, id: 'j' }], started)).toBeUndefined();
});
