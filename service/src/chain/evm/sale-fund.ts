import { saleFund } from '@causeway/contracts/abi/sale-fund.ts';
import { type Hex, zeroAddress, zeroHash } from 'viem';
import { decodeEventLog, encodeErrorResult, encodeFunctionData, keccak256, slice, toHex } from 'viem/utils';
import type { EvmChain } from './client.ts';
import { contractCall } from './contract-call.ts';
import type { EventLog } from './receipts.ts';

const { abi } = saleFund;

/** One user's part of a commit or a remit. */
export type FundRow = { user: Hex; optionId: string; token: Hex; amount: bigint };

/** Returns the option id that funds use on chain: the hash of the id as text. */
export function hashOption(optionId: string): Hex {
  return keccak256(toHex(optionId));
}

/** Reads the smallest amount that the fund accepts in one commit. */
export function readMinCommit({ reader }: EvmChain, fund: Hex): Promise<bigint> {
  return reader.read(contractCall(fund, abi, 'minCommit', []));
}

/** Encodes a commit. The single form reverts if its row fails; in the batch form each row succeeds or fails alone. */
export function encodeCommit(rows: readonly FundRow[], form: 'single' | 'batch'): Hex {
  const [first] = rows;
  if (form === 'single' && first !== undefined) {
    const args = [first.user, hashOption(first.optionId), first.token, first.amount] as const;
    return encodeFunctionData({ abi, functionName: 'commit', args });
  }
  const args = [
    rows.map(({ user }) => user),
    rows.map(({ optionId }) => hashOption(optionId)),
    rows.map(({ token }) => token),
    rows.map(({ amount }) => amount),
  ] as const;
  return encodeFunctionData({ abi, functionName: 'commit', args });
}

/** Encodes refunds of one option and one token. The call reverts unless all of them succeed. */
export function encodeRemit(rows: readonly FundRow[]): Hex {
  const [first] = rows;
  if (first === undefined) throw new Error('a remit needs at least one row');
  const option = hashOption(first.optionId);
  if (rows.length === 1) {
    const args = [first.user, option, first.token, first.amount] as const;
    return encodeFunctionData({ abi, functionName: 'remit', args });
  }
  const args = [rows.map(({ user }) => user), option, first.token, rows.map(({ amount }) => amount)] as const;
  return encodeFunctionData({ abi, functionName: 'remit', args });
}

const SINGLE_COMMIT_SELECTOR = slice(
  encodeFunctionData({ abi, functionName: 'commit', args: [zeroAddress, zeroHash, zeroAddress, 0n] }),
  0,
  4,
);

/** Returns whether `data` commits a single row, so that a revert is about that row. */
export function isSingleCommit(data: Hex): boolean {
  return data.startsWith(SINGLE_COMMIT_SELECTOR);
}

const IS_STOPPED = encodeErrorResult({ abi, errorName: 'IsStopped' });
const UNAUTHORIZED = encodeErrorResult({ abi, errorName: 'Unauthorized' });

/** Returns why the fund rejects every commit and remit, or null if the revert is about the rows themselves. */
export function fundBlockedReason(revert: Hex): 'fund_stopped' | 'role_missing' | null {
  if (revert.startsWith(IS_STOPPED)) return 'fund_stopped';
  return revert.startsWith(UNAUTHORIZED) ? 'role_missing' : null;
}

export type FundEventName = 'Committed' | 'Remitted' | 'BatchFail';

/**
 * Returns the fund's event for each row, or null if the logs have none. Rows with equal values consume equal events in
 * order, so that every event is counted once, no matter in which order the fund emits them.
 */
export function matchRows(
  fund: Hex,
  logs: readonly EventLog[],
  rows: readonly FundRow[],
): (FundEventName | null)[] {
  const events = new Map<string, FundEventName[]>();
  for (const log of logs) {
    if (log.address.toLowerCase() !== fund.toLowerCase()) continue;
    const event = decodeFundEvent(log);
    if (event === null) continue;
    events.set(event.key, [...(events.get(event.key) ?? []), event.name]);
  }
  return rows.map((row) => events.get(rowKey(row))?.shift() ?? null);
}

function decodeFundEvent({ topics, data }: EventLog): { key: string; name: FundEventName } | null {
  try {
    const { eventName, args } = decodeEventLog({ abi, topics: topics as [Hex, ...Hex[]], data });
    if (eventName !== 'Committed' && eventName !== 'Remitted' && eventName !== 'BatchFail') return null;
    // Other kinds of batch failure, such as a failed remit, say nothing about a commit.
    if (eventName === 'BatchFail' && args.kind !== 0n) return null;
    return { name: eventName, key: [args.user, args.option, args.token, args.amount].join().toLowerCase() };
  } catch {
    return null;
  }
}

function rowKey({ user, optionId, token, amount }: FundRow): string {
  return [user, hashOption(optionId), token, amount].join().toLowerCase();
}
