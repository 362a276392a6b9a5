import { expect, test } from 'vitest';
import { parseUnfinishedSale } from './unfinished-sale.ts';

test('an unfinished purchase is read back from storage, and anything else is ignored', () => {
  const sale = {
    ...{ optionId: 'o', chain: 'base_sepolia', assetId: 'usd-coin', amount: '50000000', wallet: '0x1' },
    approvalHash: `0x${'ab'.repeat(32)}`,
  };
  expect(parseUnfinishedSale(JSON.stringify(sale))).toEqual(sale);
  const intent = { ...sale, approvalHash: null };
  expect(parseUnfinishedSale(JSON.stringify(intent))).toEqual(intent);
  const invalid = [
    { ...sale, amount: '0' },
    { ...sale, amount: '1.5' },
    { ...sale, approvalHash: '0x1' },
    { ...sale, approvalHash: undefined },
  ];
  for (const text of [null, '', '{', 'null', '[]', '{}', ...invalid.map((one) => JSON.stringify(one))])
    expect(parseUnfinishedSale(text)).toBeNull();
});
