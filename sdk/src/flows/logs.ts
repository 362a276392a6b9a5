import type { Hex } from 'viem';
import { EVENT_TOPICS } from './abi.ts';
import type { Log, Receipt } from './rpc.ts';

/** Returns the allowance from the last matching `Approval` event of a transaction, or null if there is none. */
export function findApproval(
  { logs }: Receipt,
  owner: Hex,
  { token, spender }: { token: Hex; spender: Hex },
): bigint | null {
  const last = logs.filter((log) => isEvent(log, token, EVENT_TOPICS.approval, [owner, spender])).at(-1);
  return last === undefined ? null : wordAt(last, 0);
}

/**
 * Adds up the transfers of a token in a transaction. Counts only transfers from `ends.from` and to `ends.to`, if these
 * are set.
 */
export function sumTransfers({ logs }: Receipt, token: Hex, ends: { from?: Hex; to?: Hex }): bigint {
  return logs
    .filter((log) => isEvent(log, token, EVENT_TOPICS.transfer, [ends.from, ends.to]))
    .reduce((sum, log) => sum + wordAt(log, 0), 0n);
}

/** Returns the swap that a contract reports for a wallet, or null if it reports none. */
export function findSwapped({ logs }: Receipt, swap: Hex, user: Hex): { output: Hex; fee: bigint } | null {
  for (const log of logs) {
    const output = addressOf(log.topics[3]);
    if (isEvent(log, swap, EVENT_TOPICS.fundSwapped, [user])) return { output, fee: wordAt(log, 1) };
    if (isEvent(log, swap, EVENT_TOPICS.tokenizedSwapped, [user])) return { output, fee: wordAt(log, 3) };
  }
  return null;
}

function isEvent(log: Log, address: Hex, topic: Hex, indexed: (Hex | undefined)[]): boolean {
  return (
    log.address.toLowerCase() === address &&
    log.topics[0]?.toLowerCase() === topic &&
    indexed.every((value, i) => value === undefined || addressOf(log.topics[i + 1]) === value)
  );
}

function addressOf(topic: Hex | undefined): Hex {
  return `0x${(topic ?? '').slice(-40).toLowerCase()}`;
}

function wordAt({ data }: Log, index: number): bigint {
  const word = data.slice(2 + index * 64, 66 + index * 64);
  return word === '' ? 0n : BigInt(`0x${word}`);
}
