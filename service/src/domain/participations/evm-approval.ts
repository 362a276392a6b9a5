import type { Hex } from 'viem';
import { encodeFunctionData, hexToBigInt, hexToNumber, isHex, numberToHex, size, slice } from 'viem/utils';
import { ApiError } from '../../kernel/errors.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { erc20Abi } from '../../platform/chain/evm/contract-call.ts';
import { readApprovals, readTransfers } from '../../platform/chain/evm/erc20.ts';
import { type Receipt, readReceipts } from '../../platform/chain/evm/node-reads.ts';
import { describeRevert, revertData } from '../../platform/chain/evm/revert.ts';
import type { RpcReply } from '../../platform/chain/rpc/endpoint.ts';
import { resultOf } from '../../platform/chain/rpc/endpoint.ts';
import { UpstreamFailure } from '../../platform/outbound/failure.ts';
import type { ApprovalFault, ApprovalReader, Finding, RequiredApproval } from './approval.ts';
import type { AvailableFunds, RequiredFunds } from './funds.ts';

/**
 * Judges an approval by the event in its receipt, never by the calldata, because permits, multicalls and contract
 * wallets approve without calling `approve`.
 */
export function evmApprovalReader(chain: EvmChain): ApprovalReader {
  return {
    inspectReceipts: (required) => inspectReceipts(chain, required),
    readFunds: (required, height) => readFunds(chain, required, height),
    listLanded: async (hashes, height) => ({
      landed: await listLanded(chain, hashes as Hex[], height),
      height,
    }),
  };
}

async function inspectReceipts(
  chain: EvmChain,
  required: readonly RequiredApproval[],
): Promise<{ findings: Finding[]; height: bigint }> {
  const calls = [
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    ...required.map(({ approvalHash }) => ({ method: 'eth_getTransactionReceipt', params: [approvalHash] })),
  ];
  const [head, ...replies] = await chain.rpc.batch(calls, ([first]) => void readHead(first));
  const { height, timestamp } = readHead(head);
  const findings = required.map((approval, i): Finding => {
    const receipt = resultOf(replies[i]) as Receipt | null;
    if (receipt === null) return { state: 'unmined', chainTime: timestamp * 1000 };
    return judgeReceipt(receipt, approval, height, chain.facts.confirmations);
  });
  return { findings, height };
}

function readHead(reply: RpcReply | undefined): { height: bigint; timestamp: number } {
  const { number, timestamp } = (resultOf(reply) ?? {}) as { number?: unknown; timestamp?: unknown };
  if (!isHex(number) || !isHex(timestamp))
    throw new UpstreamFailure('invalid_response', 'the node did not return the latest block');
  return { height: hexToBigInt(number), timestamp: hexToNumber(timestamp) };
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
  return isConfirmed ? { state: 'good', source: null } : { state: 'unconfirmed' };
}

/** Returns null if the receipt contains the required approval, or else what is wrong. */
function findFault(receipt: Receipt, { token, user, fund, amount }: RequiredApproval): ApprovalFault | null {
  if (receipt.status !== '0x1') return 'reverted';
  const [moved] = readTransfers(fund as Hex, receipt.logs, [{ user: user as Hex, token: token as Hex }]);
  if (moved !== null) return 'not_an_approval';
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

/**
 * Reads at the block of the receipts. With `latest`, a lagging node would return the values from before the approval,
 * and the participation would wrongly fail.
 */
async function readFunds(
  chain: EvmChain,
  required: readonly RequiredFunds[],
  height: bigint,
): Promise<(AvailableFunds | ApiError | null)[]> {
  if (required.length === 0) return [];
  const block = numberToHex(height);
  const replies = await chain.rpc.batch(
    required.flatMap(({ token, user, fund }) =>
      [
        encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [user as Hex, fund as Hex] }),
        encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [user as Hex] }),
      ].map((data) => ({ method: 'eth_call', params: [{ to: token, data }, block] })),
    ),
  );
  return required.map((funds, i) => {
    const [allowance, balance] = [readAmount(funds, replies[2 * i]), readAmount(funds, replies[2 * i + 1])];
    if (allowance === null || balance === null) return null;
    if (allowance instanceof ApiError) return allowance;
    return balance instanceof ApiError ? balance : { allowance, balance };
  });
}

async function listLanded(chain: EvmChain, hashes: readonly Hex[], height: bigint): Promise<Set<Hex>> {
  const receipts = await readReceipts(chain, hashes);
  return new Set(
    hashes.filter((_, i) => {
      const receipt = receipts[i];
      return receipt?.status === '0x1' && hexToBigInt(receipt.blockNumber) <= height;
    }),
  );
}

/** Null if the node could not read the amount; an error if the token reverts or is not a contract. */
function readAmount({ token }: RequiredFunds, reply: RpcReply | undefined): bigint | ApiError | null {
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
