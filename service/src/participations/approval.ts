import type { Hex } from 'viem';
import { encodeFunctionData, hexToBigInt, isHex, numberToHex, size, slice } from 'viem/utils';
import { erc20Abi } from '../chain/evm/abi.ts';
import type { EvmChain } from '../chain/evm/client.ts';
import type { RpcReply } from '../chain/evm/endpoint.ts';
import { describeRevert, revertData } from '../chain/evm/revert.ts';
import { readApprovals } from '../chain/evm/sale-fund.ts';
import { ApiError } from '../errors.ts';
import type { Receipt } from '../operator/follow.ts';

/** What has to be approved: `amount` of `token` by `user` for `fund`. */
export type Wanted = { user: Hex; fund: Hex; token: Hex; amount: bigint; approvalHash: Hex };

export type WrongApproval = 'reverted' | 'no_approval' | 'token' | 'owner' | 'spender' | 'amount';

export type Shortage = {
  code: 'insufficient_allowance' | 'insufficient_balance';
  details: Record<string, string>;
};

/** What the chain says of an approval transaction now. What is wrong is so for good only when it is confirmed. */
export type Finding =
  | { state: 'unmined' }
  | { state: 'unconfirmed' }
  | { state: 'wrong'; reason: WrongApproval; isConfirmed: boolean }
  | { state: 'short'; shortage: Shortage }
  /** The token does not answer as one does: who asks is told, what is recorded waits. */
  | { state: 'unreadable'; error: ApiError }
  | { state: 'good' };

/**
 * Judged by the event in the receipt and by what holds now, never by the input: permits, multicalls and contract
 * wallets approve without calling `approve`, and an approval may have been spent or taken back since.
 */
export async function inspectApprovals(chain: EvmChain, wanted: readonly Wanted[]): Promise<Finding[]> {
  const { findings, height } = await inspectReceipts(chain, wanted);
  const good = wanted.filter((_, i) => findings[i]?.state === 'good');
  const covered = await inspectCovers(chain, good, height);
  return findings.map((finding) => (finding.state === 'good' ? (covered.shift() ?? finding) : finding));
}

/** The receipts alone, all in one question, and the block as of which they are. */
export async function inspectReceipts(
  chain: EvmChain,
  wanted: readonly Wanted[],
): Promise<{ findings: Finding[]; height: bigint }> {
  const [head, ...replies] = await chain.rpc.batch([
    { method: 'eth_blockNumber', params: [] },
    ...wanted.map(({ approvalHash }) => ({ method: 'eth_getTransactionReceipt', params: [approvalHash] })),
  ]);
  if (head === undefined || 'error' in head) throw head?.error ?? new Error('no block number');
  const height = hexToBigInt(head.result as Hex);
  const findings = wanted.map((one, i) => {
    const reply = replies[i];
    if (reply === undefined || 'error' in reply) throw reply?.error ?? new Error('a reply is missing');
    return judgeReceipt(reply.result as Receipt | null, one, height, chain.facts.confirmations);
  });
  return { findings, height };
}

function judgeReceipt(receipt: Receipt | null, wanted: Wanted, head: bigint, confirmations: number): Finding {
  if (receipt === null) return { state: 'unmined' };
  const reason = findFault(receipt, wanted);
  const isConfirmed = head - hexToBigInt(receipt.blockNumber) + 1n >= BigInt(confirmations);
  if (reason !== null) return { state: 'wrong', reason, isConfirmed };
  return { state: isConfirmed ? 'good' : 'unconfirmed' };
}

/** Null when one approval of the receipt is right; else the first thing that no approval has right. */
function findFault(receipt: Receipt, { token, user, fund, amount }: Wanted): WrongApproval | null {
  if (receipt.status !== '0x1') return 'reverted';
  let left = readApprovals(receipt.logs);
  if (left.length === 0) return 'no_approval';
  const tests = [
    ['token', (one: (typeof left)[number]) => one.token === token],
    ['owner', (one: (typeof left)[number]) => one.owner === user],
    ['spender', (one: (typeof left)[number]) => one.spender === fund],
    ['amount', (one: (typeof left)[number]) => one.value >= amount],
  ] as const;
  for (const [reason, isRight] of tests) {
    left = left.filter(isRight);
    if (left.length === 0) return reason;
  }
  return null;
}

/**
 * Allowance and balance as of the very block that the receipts were judged at: a node that lags behind it would tell what
 * held before the approval, and a participation would fail that lacks nothing.
 */
async function inspectCovers(chain: EvmChain, wanted: readonly Wanted[], height: bigint): Promise<Finding[]> {
  if (wanted.length === 0) return [];
  const block = numberToHex(height);
  const replies = await chain.rpc.batch(
    wanted.flatMap(({ token, user, fund }) =>
      [
        encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [user, fund] }),
        encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [user] }),
      ].map((data) => ({ method: 'eth_call', params: [{ to: token, data }, block] })),
    ),
  );
  return wanted.map((one, i) => {
    const [allowance, balance] = [readAmount(one, replies[2 * i]), readAmount(one, replies[2 * i + 1])];
    if (allowance === null || balance === null) return { state: 'unconfirmed' };
    if (allowance instanceof ApiError) return { state: 'unreadable', error: allowance };
    if (balance instanceof ApiError) return { state: 'unreadable', error: balance };
    const shortage = findShortage(one, allowance, balance);
    return shortage === null ? { state: 'good' } : { state: 'short', shortage };
  });
}

/** A revert is the token's answer; anything else only says that this node cannot tell: null. */
function readAmount({ token }: Wanted, reply: RpcReply | undefined): bigint | ApiError | null {
  if (reply === undefined) return null;
  if ('error' in reply) {
    const revert = revertData(reply.error);
    if (revert === undefined) return null;
    return new ApiError('contract_reverted', { reason: describeRevert(revert) });
  }
  if (!isHex(reply.result)) return null;
  if (size(reply.result) < 32) return new ApiError('contract_not_found', { address: token });
  return hexToBigInt(slice(reply.result, 0, 32));
}

/** Whether the fund could take the amount. */
function findShortage(
  { token, user, fund, amount }: Wanted,
  allowance: bigint,
  balance: bigint,
): Shortage | null {
  const required = String(amount);
  if (allowance < amount) {
    const details = { required, allowance: String(allowance), spender: fund, token };
    return { code: 'insufficient_allowance', details };
  }
  if (balance < amount) {
    const details = { required, balance: String(balance), owner: user, token };
    return { code: 'insufficient_balance', details };
  }
  return null;
}
