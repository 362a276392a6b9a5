import { tokenizedSwapAbi } from '@causeway/contracts/encodings/tokenized-abi.ts';
import fc from 'fast-check';
import {
  decodeFunctionResult,
  encodeFunctionData,
  encodeFunctionResult,
  erc20Abi,
  type Hex,
  maxUint256,
} from 'viem';
import { expect, it } from 'vitest';
import { contractCall } from './contract-call.ts';

const TO: Hex = '0x00000000000000000000000000000000000000aa';
const number = fc.bigInt({ min: 0n, max: maxUint256 });
const abi = tokenizedSwapAbi;

it('encodes arguments as viem does', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 255 }), number, (side, amount) => {
      const args = [side, amount] as const;
      const expected = encodeFunctionData({ abi, functionName: 'fee', args });
      expect(contractCall(TO, abi, 'fee', args).encode()).toBe(expected);
    }),
  );
});

it.each([256, -1, 1.5])('refuses %s as a uint8', (side) => {
  expect(() => contractCall(TO, abi, 'fee', [side, 1n]).encode()).toThrow();
});

it('decodes results as viem does, also if the contract returns more data than its interface says', () => {
  const { decode } = contractCall(TO, abi, 'fee', [0, 1n]);
  const { decode: decodeBalance } = contractCall(TO, erc20Abi, 'balanceOf', [TO]);
  fc.assert(
    fc.property(number, number, fc.boolean(), (fee, net, isLonger) => {
      const encoded = encodeFunctionResult({ abi, functionName: 'fee', result: [fee, net] });
      const data: Hex = `${encoded}${isLonger ? '00ff' : ''}`;
      expect(decode(data)).toEqual(decodeFunctionResult({ abi, functionName: 'fee', data }));
      expect(decodeBalance(data)).toBe(fee);
    }),
  );
});

it.each(['0x', `0x${'0'.repeat(126)}`, `0x${'g'.repeat(128)}`] as Hex[])('refuses the result %s', (data) => {
  expect(() => contractCall(TO, abi, 'fee', [0, 1n]).decode(data)).toThrow();
});
