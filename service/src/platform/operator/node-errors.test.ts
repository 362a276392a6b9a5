import { describe, expect, test } from 'vitest';
import { NodeError } from '../chain/rpc/failures.ts';
import { classifyRejection } from './node-errors.ts';

/** Error messages recorded from nodes. Each row has the client software, the code, the message and its meaning. */
const RECORDED = [
  ['geth', -32000, 'already known', 'already_known'],
  ['geth', -32000, 'nonce too low: next nonce 5, tx nonce 4', 'nonce_used'],
  ['geth', -32000, 'transaction underpriced: tip needed 2, tip permitted 1', 'fee_too_low'],
  ['geth', -32000, 'replacement transaction underpriced', 'fee_too_low'],
  [
    'geth',
    -32000,
    'max fee per gas less than block base fee: address 0x12, maxFeePerGas: 1, baseFee: 7',
    'fee_too_low',
  ],
  [
    'geth',
    -32000,
    'insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1',
    'insufficient_funds',
  ],
  ['geth', -32000, 'txpool is full', 'other'],
  ['geth', -32000, 'unknown transaction type', 'other'],
  ['geth', -32000, 'transaction type not supported', 'other'],
  ['geth', -32000, 'exceeds block gas limit', 'other'],
  ['geth', -32000, 'multiple blob transactions are not allowed', 'other'],
  ['geth', -32000, 'intrinsic gas too low: have 1, want 21000', 'other'],
  ['erigon', -32000, 'underpriced', 'fee_too_low'],
  ['erigon', -32000, 'fee cap less than block base fee', 'fee_too_low'],
  ['nethermind', -32010, 'AlreadyKnown', 'already_known'],
  ['nethermind', -32010, 'OldNonce, Current nonce: 5, nonce of rejected tx: 4', 'nonce_used'],
  ['nethermind', -32010, 'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 2', 'fee_too_low'],
  ['nethermind', -32010, 'InsufficientFunds, Account balance: 0, cumulative cost: 1', 'insufficient_funds'],
  ['besu', -32000, 'Known transaction', 'already_known'],
  ['besu', -32001, 'Nonce too low', 'nonce_used'],
  ['besu', -32009, 'Gas price below current base fee', 'fee_too_low'],
  ['besu', -32004, 'Upfront cost exceeds account balance', 'insufficient_funds'],
  ['reth', -32003, 'insufficient funds for gas * price + value: have 0 want 1', 'insufficient_funds'],
  ['a gateway', -32000, 'Insufficient funds for gas * price + value: have 0 want 1', 'insufficient_funds'],
  ['a gateway', -32000, 'INTERNAL_ERROR: Insufficient Funds', 'insufficient_funds'],
  ['EDR', -32000, 'Transaction nonce too low. Expected nonce to be at least 8 but got 7.', 'nonce_used'],
  ['hardhat', -32000, 'Nonce too low. Expected nonce to be 5 but got 4.', 'nonce_used'],
  [
    'hardhat',
    -32000,
    "Sender doesn't have enough funds to send tx. The max upfront cost is: 1 and the sender's balance is: 0.",
    'insufficient_funds',
  ],
] as const;

describe('a recorded rejection', () => {
  test.each(RECORDED)('of %s (%i) "%s" means %s', (_client, code, message, meaning) => {
    expect(classifyRejection(new NodeError(code, message, undefined))).toBe(meaning);
  });
});

test('an error that no node reported means nothing', () => {
  expect(classifyRejection(new Error('already known'))).toBe('other');
});
