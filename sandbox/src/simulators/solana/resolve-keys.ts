import { base58 } from '@scure/base';
import { isSameKey, LOOKUP_TABLE_PROGRAM } from './programs.ts';
import { type Svm, toHex } from './svm.ts';
import { KEPT_SLOTS, type Timeline } from './timeline.ts';
import type { TransactionError } from './transaction-error.ts';
import { isWritableKey, type WireTransaction } from './wire-transaction.ts';

export type LoadedKeys = { writable: Uint8Array[]; readonly: Uint8Array[] };

const MAX_ACCOUNT_LOCKS = 64;
const LOOKUP_HEADER_BYTES = 56;

type ResolvedKeys = {
  keys: Uint8Array[];
  loaded: LoadedKeys;
  isWritable(index: number): boolean;
};

/** Lists all accounts of a transaction, including those from lookup tables. */
export function resolveLookups(
  svm: Svm,
  transaction: WireTransaction,
): ResolvedKeys | { problem: TransactionError } {
  const loaded: LoadedKeys = { writable: [], readonly: [] };
  for (const { table, writable, readonly } of transaction.lookups) {
    const account = svm.account(table);
    if (!account) return { problem: 'AddressLookupTableNotFound' };
    if (!isSameKey(account.owner, LOOKUP_TABLE_PROGRAM)) return { problem: 'InvalidAddressLookupTableOwner' };
    const at = (index: number) =>
      account.data.subarray(LOOKUP_HEADER_BYTES + 32 * index, LOOKUP_HEADER_BYTES + 32 * (index + 1));
    if ([...writable, ...readonly].some((index) => at(index).length < 32))
      return { problem: 'InvalidAddressLookupTableIndex' };
    loaded.writable.push(...writable.map(at));
    loaded.readonly.push(...readonly.map(at));
  }
  const { keys } = transaction;
  return {
    keys: [...keys, ...loaded.writable, ...loaded.readonly],
    loaded,
    isWritable: (index) =>
      index < keys.length ? isWritableKey(transaction, index) : index < keys.length + loaded.writable.length,
  };
}

export function findLockProblem(keys: Uint8Array[]): TransactionError | undefined {
  if (keys.length > MAX_ACCOUNT_LOCKS) return 'TooManyAccountLocks';
  return new Set(keys.map(toHex)).size < keys.length ? 'AccountLoadedTwice' : undefined;
}

export function usesLookups({ keys, lookups }: WireTransaction): boolean {
  return lookups.length > 0 || keys.some((key) => isSameKey(key, LOOKUP_TABLE_PROGRAM));
}

/** The content of the `SlotHashes` sysvar, which the lookup table program reads. Newest slot first. */
export function recentHashes(timeline: Timeline, slot: number) {
  return Array.from({ length: KEPT_SLOTS }, (_, age) => slot - 1 - age)
    .filter((past) => past >= 0 && !timeline.isSkipped(past))
    .map((past) => ({ slot: BigInt(past), hash: base58.encode(timeline.blockhash(past)) }));
}
