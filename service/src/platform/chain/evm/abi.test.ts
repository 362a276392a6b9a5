import { fixedPriceMarket } from '@causeway/contracts/abi/fixed-price-market.ts';
import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { fundSwapV1 } from '@causeway/contracts/abi/fund-swap-v1.ts';
import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { saleFundV2 } from '@causeway/contracts/abi/sale-fund-v2.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { tokenizedSwap } from '@causeway/contracts/abi/tokenized-swap.ts';
import { venueConverter } from '@causeway/contracts/abi/venue-converter.ts';
import { venueHours } from '@causeway/contracts/abi/venue-hours.ts';
import { venueLimiter } from '@causeway/contracts/abi/venue-limiter.ts';
import { venueManager } from '@causeway/contracts/abi/venue-manager.ts';
import { venueOracle } from '@causeway/contracts/abi/venue-oracle.ts';
import { venueRegistry } from '@causeway/contracts/abi/venue-registry.ts';
import { tokenizedSwapAbi, venueManagerAbi } from '@causeway/contracts/encodings/tokenized-abi.ts';
import type { Abi, AbiParameter } from 'viem';
import { describe, expect, test } from 'vitest';
import { erc20Abi, fundSwapAbi } from './contract-call.ts';
import { CONTRACT_ERRORS } from './revert.ts';

const venue = [venueConverter, venueHours, venueLimiter, venueManager, venueOracle, venueRegistry];
const contracts = [
  fixedPriceMarket,
  fundSwap,
  fundSwapV1,
  saleFund,
  saleFundV2,
  token,
  tokenizedSwap,
  ...venue,
];

/**
 * The parts of an ABI entry that determine its encoding. Compilers and `parseAbi` differ in the other parts.
 */
function encodingOf(item: Abi[number]) {
  const parameter = (one: AbiParameter): object => ({
    type: one.type,
    indexed: 'indexed' in one && one.indexed === true,
    components: 'components' in one ? one.components.map(parameter) : [],
  });
  return JSON.stringify({
    type: item.type,
    name: 'name' in item ? item.name : '',
    stateMutability: 'stateMutability' in item ? item.stateMutability : '',
    inputs: 'inputs' in item ? item.inputs.map(parameter) : [],
    outputs: 'outputs' in item ? item.outputs.map(parameter) : [],
  });
}

const namesOf = (abi: Abi) => abi.map((item) => ('name' in item ? item.name : item.type)).sort();

describe('hand-written ABI entries', () => {
  test.each([
    ['known errors', CONTRACT_ERRORS as Abi, contracts.flatMap(({ abi }) => abi as Abi)],
    ['tokenized swap', tokenizedSwapAbi as Abi, tokenizedSwap.abi as Abi],
    ['venue manager', venueManagerAbi as Abi, venueManager.abi as Abi],
  ])('are equal to the compiled contracts: %s', (_name, written, compiled) => {
    const known = new Set(compiled.map(encodingOf));
    expect(written.map(encodingOf).filter((entry) => !known.has(entry))).toEqual([]);
  });
});

describe('picked ABI entries', () => {
  test('are complete', () => {
    expect(namesOf(erc20Abi)).toEqual(['allowance', 'balanceOf', 'decimals', 'name', 'symbol']);
    expect(namesOf(fundSwapAbi)).toEqual([
      ...['SWAP_LEVEL', 'authorized', 'outputToken', 'paused', 'preview', 'status', 'stopped'],
    ]);
  });

  test('of both fund swap generations differ in nothing but the stop mask', () => {
    const legacy = new Set((fundSwapV1.abi as Abi).map(encodingOf));
    const missing = (fundSwapAbi as Abi).filter((item) => !legacy.has(encodingOf(item)));
    expect(namesOf(missing)).toEqual(['paused', 'status']);
  });
});
