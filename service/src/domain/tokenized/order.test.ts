import { tokenizedSwapAbi, venueManagerAbi } from '@causeway/contracts/encodings/tokenized-abi.ts';
import {
  findCostProblem,
  hashQuote,
  hashQuoteStruct,
  QUOTE_TYPES,
  REQUEST_TYPES,
  SIGNER_ROLE,
  separatorOf,
  venueDomain,
} from '@causeway/contracts/encodings/tokenized-order.ts';
import fc from 'fast-check';
import { formatUnits, keccak256, toFunctionSelector, toHex } from 'viem/utils';
import { describe, expect, test } from 'vitest';
import { parseDecimal } from '../../platform/providers/ondo.ts';
import { grossUp, splitGross } from './fee.ts';

const MANAGER = '0x2c158BC456e027b2AfFCCadF1BDBD9f5fC4c5C8c';

/** The sample in the vendor's documentation. */
const sample = {
  chainId: 1n,
  attestationId: 229852750420835981756873903928305653446n,
  userId: '0x474d0000000000009310097834e2c7af00000000000000000000000000000000',
  asset: '0x14c3abf95cb9c93a8b82c1cdcb76d72cb87b2d4c',
  price: 225273151158540753535n,
  quantity: 5000000000000000000n,
  expiration: 1746655938n,
  side: 0,
  additionalData: `0x${'00'.repeat(32)}`,
} as const;

/** Encodes a type as the string that is hashed under EIP-712. */
function typeText(name: string, fields: readonly { name: string; type: string }[]): string {
  return `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`;
}

describe('order encodings', () => {
  test('match the type hashes of the venue and the swap contract', () => {
    expect(keccak256(toHex(typeText('Quote', QUOTE_TYPES.Quote)))).toBe(
      '0xaa6d9093095fdf69cb4e18b3e4053e238ec6e2d5a083964634b640da3b8f44a4',
    );
    expect(keccak256(toHex(typeText('VerifyRequest', REQUEST_TYPES.VerifyRequest)))).toBe(
      '0xbc80a36b87b5bb1806c854856f3085b7cf8ffe21a3f92f0b348be549b8f9501f',
    );
    expect(SIGNER_ROLE).toBe(keccak256(toHex('ATTESTATION_SIGNER_ROLE')));
  });

  test.each([
    [1, MANAGER, '0xe366cab15d2bf3f9f295fa4d4f299170e44e971d8e7f1808dfef3c453692222c'],
    [
      56,
      '0x91f8Aff3738825e8eB16FC6f6b1A7A4647bDB299',
      '0x744b6843cda8f424167a1df41a9d55a84be12a5a07046354dc532354c46f9a24',
    ],
  ] as const)('match the domain separator of the manager on chain %i', (chainId, manager, separator) => {
    expect(separatorOf(venueDomain(chainId, manager))).toBe(separator);
  });

  test("match the hash of the vendor's sample", () => {
    expect(hashQuoteStruct(sample)).toBe(
      '0x7dc9a78d3925e19b514ae8e2ce187d0c0ba63e914d26c37d5ff5c4c5d6fbfa83',
    );
    expect(hashQuote(venueDomain(1, MANAGER), sample)).toBe(
      '0xca9f46dd275ab515002ba99d7713d50ae66132cc88a1853cd56f76f3bef50b9e',
    );
  });

  test.each([
    ['swap', '0x5dcce09f'],
    ['totals', '0x4397cf94'],
    ['fee', '0x3de2bdd1'],
    ['domainSeparator', '0xf698da25'],
  ])('call %s with selector %s', (name, selector) => {
    const found = tokenizedSwapAbi.find((item) => item.type === 'function' && item.name === name);
    expect(toFunctionSelector(found as Parameters<typeof toFunctionSelector>[0])).toBe(selector);
  });

  test.each([
    ['executedAttestationIds', '0x50aaef5a'],
    ['getDomainSeparator', '0xed24911d'],
    ['hasRole', '0x91d14854'],
  ])('call %s of the manager with selector %s', (name, selector) => {
    const found = venueManagerAbi.find((item) => item.name === name);
    expect(toFunctionSelector(found as Parameters<typeof toFunctionSelector>[0])).toBe(selector);
  });
});

const money = fc.bigInt({ min: 0n, max: 2n ** 200n });
const bps = fc.integer({ min: 0, max: 1000 });

describe('fee', () => {
  test('and net add up to the gross amount, with the fee within two units of the rate', () => {
    fc.assert(
      fc.property(money, bps, (gross, rate) => {
        const { net, fee } = splitGross(gross, rate);
        expect(net + fee).toBe(gross);
        expect(net).toBe((gross * 10_000n) / (10_000n + BigInt(rate)));
        const exact = (net * BigInt(rate)) / 10_000n;
        expect(fee >= exact && fee <= exact + 2n).toBe(true);
      }),
    );
  });

  test('of a grossed-up limit leaves at most the limit, and less than two units below it', () => {
    fc.assert(
      fc.property(money, bps, (limit, rate) => {
        expect(splitGross(grossUp(limit, rate), rate).net <= limit).toBe(true);
        expect(splitGross(grossUp(limit, rate) + 2n, rate).net >= limit).toBe(true);
      }),
    );
  });
});

describe('parseDecimal', () => {
  test('reverses formatUnits', () => {
    fc.assert(
      fc.property(money, fc.integer({ min: 0, max: 36 }), (value, digits) => {
        const text = formatUnits(value, digits);
        expect(parseDecimal(text, digits)).toBe(value);
        expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
      }),
    );
  });

  test.each(['', '-1', '1.', '.5', '1e3', '0x1', '1.0000001'])('rejects %j with six digits', (text) => {
    expect(parseDecimal(text, 6)).toBeNull();
  });
});

test('the cost check accepts a surplus of less than a cent and nothing else', () => {
  const cost = { quantity: 10n ** 18n, price: 10n ** 18n };
  expect(findCostProblem(cost, 1_000_000n, 6)).toBeNull();
  expect(findCostProblem(cost, 1_009_999n, 6)).toBeNull();
  expect(findCostProblem(cost, 1_010_000n, 6)).toContain('a cent or more');
  expect(findCostProblem(cost, 999_999n, 6)).toContain('does not cover the quote');
  expect(findCostProblem(cost, 10n ** 18n, 19)).toContain('more than 18');
});
