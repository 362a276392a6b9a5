import type { Hex } from 'viem';
import { encodeFunctionData, hexToBigInt, isHex, numberToHex, size, slice } from 'viem/utils';
import { erc20Abi } from '../chain/evm/abi.ts';
import type { EvmChain } from '../chain/evm/client.ts';
import type { RpcReply } from '../chain/evm/endpoint.ts';
import { describeRevert, revertData } from '../chain/evm/revert.ts';
import { ApiError } from '../errors.ts';

/** The amount that `fund` takes from `user`. */
export type RequiredFunds = { user: Hex; fund: Hex; token: Hex; amount: bigint };

export type Shortage = {
  code: 'insufficient_allowance' | 'insufficient_balance';
  details: Record<string, string>;
};

export type FundsFinding =
  | { state: 'unconfirmed' }
  | { state: 'short'; shortage: Shortage }
  | { state: 'unreadable'; error: ApiError }
  | { state: 'good' };

/** Judges whether each fund could take its amount at the block `height`. */
export async function inspectFunds(
  chain: EvmChain,
  required: readonly RequiredFunds[],
  height: bigint,
): Promise<FundsFinding[]> {
  const available = await readFunds(chain, required, height);
  return required.map((funds, i) => {
    const found = available[i] ?? null;
    if (found === null) return { state: 'unconfirmed' };
    if (found instanceof ApiError) return { state: 'unreadable', error: found };
    const shortage = findShortage(funds, found);
    return shortage === null ? { state: 'good' } : { state: 'short', shortage };
  });
}

export type AvailableFunds = { allowance: bigint; balance: bigint };

/**
 * Reads allowance and balance at the block at which the receipts were read. A node that lags behind that block would
 * return the values from before the approval and fail a participation that lacks nothing. Null: the node does not know.
 * An error: the token reverts or is not a contract.
 */
export async function readFunds(
  chain: EvmChain,
  required: readonly RequiredFunds[],
  height: bigint,
): Promise<(AvailableFunds | ApiError | null)[]> {
  if (required.length === 0) return [];
  const block = numberToHex(height);
  const replies = await chain.rpc.batch(
    required.flatMap(({ token, user, fund }) =>
      [
        encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [user, fund] }),
        encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [user] }),
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

/** Returns null if the node does not know. Returns an error if the token reverts or is not a contract. */
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

/** Returns null if the fund could take the amount. */
export function findShortage(
  { token, user, fund, amount }: RequiredFunds,
  { allowance, balance }: AvailableFunds,
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
