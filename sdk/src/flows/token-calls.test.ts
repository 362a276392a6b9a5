import { toFunctionSelector } from 'viem/utils';
import { expect, test } from 'vitest';
import { movesNoTokens } from './token-calls.ts';

test.each([
  'approve(address,uint256)',
  'approve(address,address,uint160,uint48)',
  'approveAndCall(address,uint256)',
  'approveAndCall(address,uint256,bytes)',
  'authorizeOperator(address)',
  'burn(uint256)',
  'increaseAllowance(address,uint256)',
  'increaseApproval(address,uint256)',
  'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)',
  'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
  'safeTransferFrom(address,address,uint256)',
  'safeTransferFrom(address,address,uint256,bytes)',
  'safeTransferFrom(address,address,uint256,uint256,bytes)',
  'send(address,uint256,bytes)',
  'setApprovalForAll(address,bool)',
  'transfer(address,uint256)',
  'transferAndCall(address,uint256)',
  'transferAndCall(address,uint256,bytes)',
  'transferFrom(address,address,uint256)',
  'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
])('a supplier cannot call %s', (signature) => {
  const data = `${toFunctionSelector(signature)}${'00'.repeat(64)}`;
  expect([movesNoTokens(data), movesNoTokens(data.toUpperCase().replace('0X', '0x'))]).toEqual([
    false,
    false,
  ]);
});

test.each(['', '0x', '0x095ea7', ' 0x12345678', '0x1234567', '0x1234567g'])('%j is not a call', (data) => {
  expect(movesNoTokens(data)).toBe(false);
});

test('other calls are accepted', () => {
  expect(movesNoTokens(`${toFunctionSelector('register(address)')}${'00'.repeat(32)}`)).toBe(true);
});
