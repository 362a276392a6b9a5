import { type Abi, type AbiParameter, getAbiItem } from 'viem';
import { describe, expect, it } from 'vitest';
import { tokenizedSwap } from '../abi/tokenized-swap.ts';
import { venueManager } from '../abi/venue-manager.ts';
import { tokenizedSwapAbi, venueManagerAbi } from '../encodings/tokenized-abi.ts';
import { QUOTE_TYPES } from '../encodings/tokenized-order.ts';

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
