import { fixedPriceMarket } from '@causeway/contracts/abi/fixed-price-market.ts';
import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { tokenizedSwap } from '@causeway/contracts/abi/tokenized-swap.ts';
import { venueManager } from '@causeway/contracts/abi/venue-manager.ts';
import type { Abi, AbiEvent, AbiFunction } from 'viem';
import { toEventSelector, toFunctionSignature } from 'viem/utils';
import { describe, expect, test } from 'vitest';
import { allowListAbi, approveAbi, EVENT_TOPICS, fundSwapAbi, permitAbi } from './abi.ts';
import { errorsAbi } from './errors-abi.ts';

/**
 * Errors that none of our ABIs declare: Solidity's own errors, errors of OpenZeppelin tokens, and errors that solady
 * raises in assembly.
 */
const UNDECLARED_ERRORS =
  /^(Error|Panic|ERC20\w+|ERC2612\w+|TransferFromFailed|TransferFailed|ApproveFailed)$/;

const outputTypes = ({ outputs }: AbiFunction) => outputs.map(({ type }) => type);
const findFunction = (abi: Abi, name: string) =>
  abi.find((item): item is AbiFunction => item.type === 'function' && item.name === name);
const signatureOf = (item: { name: string; inputs: readonly { type: string }[] }) =>
  `${item.name}(${item.inputs.map(({ type }) => type).join(',')})`;

describe('the ABI fragments match the compiled contracts', () => {
  test.each<[string, Abi, Abi]>([
    ['permits', permitAbi, token.abi],
    ['fund swaps', fundSwapAbi, fundSwap.abi],
    ['allow-lists', allowListAbi, fundSwap.abi],
  ])('%s', (_what, fragments, compiled) => {
    for (const fragment of fragments) {
      if (fragment.type !== 'function') throw new Error(`${fragment.type} is not a function`);
      const found = findFunction(compiled, fragment.name);
      // EIP-2612 tokens need not expose their version.
      if (found === undefined && fragment.name === 'version') continue;
      if (found === undefined) throw new Error(`the contract has no function ${fragment.name}`);
      expect(toFunctionSignature(fragment)).toBe(toFunctionSignature(found));
      expect(outputTypes(fragment)).toEqual(outputTypes(found));
    }
  });

  test('approvals, whose return value is ignored', () => {
    const found = findFunction(token.abi, 'approve');
    expect(found && toFunctionSignature(found)).toBe(toFunctionSignature(approveAbi[0]));
  });

  test('errors', () => {
    const contracts: Abi[] = [token.abi, saleFund.abi, fundSwap.abi, fixedPriceMarket.abi];
    const declared = [...contracts, tokenizedSwap.abi, venueManager.abi]
      .flat()
      .flatMap((item) => (item.type === 'error' ? [signatureOf(item)] : []));
    const fragments = errorsAbi.filter(({ name }) => !UNDECLARED_ERRORS.test(name)).map(signatureOf);
    expect(fragments.filter((signature) => !declared.includes(signature))).toEqual([]);
  });

  test.each<[string, Abi, string]>([
    [EVENT_TOPICS.approval, token.abi, 'Approval'],
    [EVENT_TOPICS.transfer, token.abi, 'Transfer'],
    [EVENT_TOPICS.fundSwapped, fundSwap.abi, 'Swapped'],
    [EVENT_TOPICS.tokenizedSwapped, tokenizedSwap.abi, 'Swapped'],
  ])('the topic %s', (topic, abi, name) => {
    const event = abi.find((item): item is AbiEvent => item.type === 'event' && item.name === name);
    expect(event && toEventSelector(event)).toBe(topic);
  });
});
