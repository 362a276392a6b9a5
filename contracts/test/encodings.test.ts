import fc from 'fast-check';
import {
  type Abi,
  type AbiParameter,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  maxUint256,
  toHex,
} from 'viem';
import { describe, expect, it } from 'vitest';
import { tokenizedSwap } from '../abi/tokenized-swap.ts';
import { venueManager } from '../abi/venue-manager.ts';
import { tokenizedSwapAbi, venueManagerAbi } from '../encodings/tokenized-abi.ts';
import { encodeSwap, QUOTE_TYPES } from '../encodings/tokenized-order.ts';
import { encodeBytes } from '../encodings/words.ts';

/** Keeps only the parts of an ABI entry that determine its encoding. Drops parameter names and internal types. */
function normalise(entry: Abi[number]): unknown {
  const parameter = (given: AbiParameter): unknown => ({
    type: given.type,
    indexed: 'indexed' in given && given.indexed === true,
    components: 'components' in given ? given.components.map(parameter) : [],
  });
  return {
    type: entry.type,
    name: 'name' in entry ? entry.name : null,
    stateMutability: 'stateMutability' in entry ? entry.stateMutability : null,
    inputs: 'inputs' in entry ? entry.inputs.map(parameter) : [],
    outputs: 'outputs' in entry ? entry.outputs.map(parameter) : [],
  };
}

describe.each<[string, Abi, Abi]>([
  ['the tokenized swap', tokenizedSwapAbi, tokenizedSwap.abi],
  ["the venue's manager", venueManagerAbi, venueManager.abi],
])('the ABI of %s', (_contract, encodings, compiled) => {
  it('matches the compiled contract', () => {
    expect(compiled.map(normalise)).toEqual(expect.arrayContaining(encodings.map(normalise)));
  });
});

it('the EIP-712 types of a quote match the struct of the compiled contract', () => {
  const { inputs } = getAbiItem({ abi: venueManager.abi, name: 'hashQuote' });
  const members = inputs[0].components.map(({ name, type }) => ({ name, type }));
  expect(members).toEqual(QUOTE_TYPES.Quote);
});

it('encodes the swap call as viem does', () => {
  const bytes = (minLength: number, maxLength: number) =>
    fc.uint8Array({ minLength, maxLength }).map((value) => toHex(value));
  const number = fc.bigInt({ min: 0n, max: maxUint256 });
  const quote = fc.record({
    chainId: number,
    attestationId: number,
    userId: bytes(32, 32),
    asset: bytes(20, 20),
    price: number,
    quantity: number,
    expiration: number,
    side: fc.integer({ min: 0, max: 255 }),
    additionalData: bytes(32, 32),
  });
  const signature = bytes(0, 100);
  fc.assert(
    fc.property(
      quote,
      signature,
      bytes(20, 20),
      number,
      signature,
      (given, venue, token, gross, operator) => {
        const args = [given, venue, token, gross, operator] as const;
        const expected = encodeFunctionData({ abi: tokenizedSwap.abi, functionName: 'swap', args });
        expect(encodeSwap({ ...given, signature: venue }, token, gross, operator)).toBe(expected);
      },
    ),
  );
});

it.each(['', '0', '0x1', '0xzz', '12'])('refuses %j as bytes', (value) => {
  expect(() => encodeBytes(value as Hex)).toThrow('not hex data');
});
