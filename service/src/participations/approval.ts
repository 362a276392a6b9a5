import type { Hex } from 'viem';
import { hexToBigInt, hexToNumber } from 'viem/utils';
import type { EvmChain } from '../chain/evm/client.ts';
import { readApprovals } from '../chain/evm/erc20.ts';
import type { Receipt } from '../chain/evm/receipts.ts';
import { resultOf } from '../chain/evm/reply.ts';
import type { ApiError } from '../errors.ts';
import { inspectFunds, type Shortage } from './funds.ts';

/** The approval that a participation requires: `user` lets `fund` take `amount` of `token`. */
export type RequiredApproval = { user: Hex; fund: Hex; token: Hex; amount: bigint; approvalHash: Hex };

/** The first property that no approval in the transaction has right. */
export type ApprovalFault = 'reverted' | 'no_approval' | 'token' | 'owner' | 'spender' | 'amount';

/** The state of an approval transaction on the chain. */
export type Finding =
  /** `chainTime`: of the block up to which it is missing, in milliseconds since the epoch. */
  | { state: 'unmined'; chainTime: number }
  | { state: 'unconfirmed' }
  /** A reorganisation can still change this unless it is confirmed. */
  | { state: 'wrong'; reason: ApprovalFault; isConfirmed: boolean }
  | { state: 'short'; shortage: Shortage }
  /** The token contract does not behave like a token. New requests are rejected; existing participations wait. */
  | { state: 'unreadable'; error: ApiError }
  | { state: 'good' };

/**
 * Judges approvals by the event in the receipt and the current allowance and balance, never by the call data. Permits,
 * multicalls and contract wallets approve without calling `approve`, and an approval may have been spent or revoked since.
 */
export async function inspectApprovals(
  chain: EvmChain,
  required: readonly RequiredApproval[],
): Promise<Finding[]> {
  const { findings, height } = await inspectReceipts(chain, required);
  const good = required.filter((_, i) => findings[i]?.state === 'good');
  const funds = await inspectFunds(chain, good, height);
  return findings.map((finding) => (finding.state === 'good' ? (funds.shift() ?? finding) : finding));
}

/** Judges the receipts alone, in one RPC batch. Returns the block height at which they were read, too. */
export async function inspectReceipts(
  chain: EvmChain,
  required: readonly RequiredApproval[],
): Promise<{ findings: Finding[]; height: bigint }> {
  const [head, ...replies] = await chain.rpc.batch([
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    ...required.map(({ approvalHash }) => ({ method: 'eth_getTransactionReceipt', params: [approvalHash] })),
  ]);
  const { number, timestamp } = resultOf(head) as { number: Hex; timestamp: Hex };
  const height = hexToBigInt(number);
  const findings = required.map((approval, i): Finding => {
    const receipt = resultOf(replies[i]) as Receipt | null;
    if (receipt === null) return { state: 'unmined', chainTime: hexToNumber(timestamp) * 1000 };
    return judgeReceipt(receipt, approval, height, chain.facts.confirmations);
  });
  return { findings, height };
}

function judgeReceipt(
  receipt: Receipt,
  required: RequiredApproval,
  height: bigint,
  confirmations: number,
): Finding {
  const reason = findFault(receipt, required);
  const isConfirmed = height - hexToBigInt(receipt.blockNumber) + 1n >= BigInt(confirmations);
  if (reason !== null) return { state: 'wrong', reason, isConfirmed };
  return { state: isConfirmed ? 'good' : 'unconfirmed' };
}

/** Returns null if any approval in the receipt fits. */
function findFault(receipt: Receipt, { token, user, fund, amount }: RequiredApproval): ApprovalFault | null {
  if (receipt.status !== '0x1') return 'reverted';
  let candidates = readApprovals(receipt.logs);
  if (candidates.length === 0) return 'no_approval';
  type Candidate = (typeof candidates)[number];
  const checks = [
    ['token', (approval: Candidate) => approval.token === token],
    ['owner', (approval: Candidate) => approval.owner === user],
    ['spender', (approval: Candidate) => approval.spender === fund],
    ['amount', (approval: Candidate) => approval.value >= amount],
  ] as const;
  for (const [fault, isRight] of checks) {
    candidates = candidates.filter(isRight);
    if (candidates.length === 0) return fault;
  }
  return null;
}
