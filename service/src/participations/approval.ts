import type { Hex } from 'viem';
import { hexToBigInt } from 'viem/utils';
import type { EvmChain } from '../chain/client.ts';
import { readAllowance, readBalance } from '../chain/erc20.ts';
import type { Receipt } from '../chain/follow.ts';
import { readApprovals } from '../chain/sale-fund.ts';

/** What has to be approved: `amount` of `token` by `user` for `fund`. */
export type Wanted = { user: Hex; fund: Hex; token: Hex; amount: bigint; approvalHash: Hex };

export type WrongApproval = 'reverted' | 'no_approval' | 'token' | 'owner' | 'spender' | 'amount';

export type Shortage = {
  code: 'insufficient_allowance' | 'insufficient_balance';
  details: Record<string, string>;
};

/** What the chain says of an approval transaction now. */
export type Finding =
  | { state: 'unmined' }
  | { state: 'unconfirmed' }
  | { state: 'wrong'; reason: WrongApproval }
  | { state: 'short'; shortage: Shortage }
  | { state: 'good' };

/**
 * Judged by the event in the receipt and by what holds now, never by the input: permits, multicalls and contract
 * wallets approve without calling `approve`, and an approval may have been spent or taken back since.
 */
export async function inspectApproval(chain: EvmChain, wanted: Wanted): Promise<Finding> {
  const [finding] = await inspectReceipts(chain, [wanted]);
  if (finding?.state !== 'good') return finding ?? { state: 'unmined' };
  const shortage = await findShortage(chain, wanted);
  return shortage === null ? finding : { state: 'short', shortage };
}

/** The receipts alone, all in one question. */
export async function inspectReceipts(chain: EvmChain, wanted: readonly Wanted[]): Promise<Finding[]> {
  const [head, ...replies] = await chain.rpc.batch([
    { method: 'eth_blockNumber', params: [] },
    ...wanted.map(({ approvalHash }) => ({ method: 'eth_getTransactionReceipt', params: [approvalHash] })),
  ]);
  if (head === undefined || 'error' in head) throw head?.error ?? new Error('no block number');
  const height = hexToBigInt(head.result as Hex);
  return wanted.map((one, i) => {
    const reply = replies[i];
    if (reply === undefined || 'error' in reply) throw reply?.error ?? new Error('a reply is missing');
    return judgeReceipt(reply.result as Receipt | null, one, height, chain.facts.confirmations);
  });
}

function judgeReceipt(receipt: Receipt | null, wanted: Wanted, head: bigint, confirmations: number): Finding {
  if (receipt === null) return { state: 'unmined' };
  const reason = findFault(receipt, wanted);
  if (reason !== null) return { state: 'wrong', reason };
  const depth = head - hexToBigInt(receipt.blockNumber) + 1n;
  return { state: depth < BigInt(confirmations) ? 'unconfirmed' : 'good' };
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

/** Whether the fund could take the amount at this moment. */
export async function findShortage(
  chain: EvmChain,
  { token, user, fund, amount }: Wanted,
): Promise<Shortage | null> {
  const [allowance, balance] = await Promise.all([
    readAllowance(chain, token, user, fund),
    readBalance(chain, token, user),
  ]);
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
