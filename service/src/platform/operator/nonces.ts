import { numberToHex } from 'viem/utils';
import { readQuantity } from '../chain/evm/node-reads.ts';
import type { Db } from '../db/pool.ts';
import type { OperatorAccount, ReadOnlyAccount } from './account.ts';
import { holdLease, type Lease, LeaseLost, withLease } from './lease.ts';
import { advanceNextNonce, setFirstNonce } from './lease-store.ts';

/**
 * Nonces are allocated in three steps:
 * 1. `nextNonce` chooses a nonce.
 * 2. The call is signed with this nonce. No database transaction is open meanwhile, because signing may be a call to
 *    KMS.
 * 3. `reserveNonce` claims the nonce in the database transaction that stores the signed bytes.
 *
 * Two nodes can sign with the same nonce. But only the lease holder can reserve the nonce, and only transactions with a
 * reserved nonce are sent.
 */

/** Returns the stored next nonce. If the key has not been used yet, returns the chain's transaction count. */
export async function nextNonce(account: OperatorAccount, lease: Lease): Promise<bigint> {
  return lease.nextNonce ?? readNonce(account, 'latest');
}

/**
 * Stores the transaction count at which this database starts to use a key. If a backup from before the key's first
 * transaction is restored, the stored count shows that this transaction is missing from the database. Without the
 * count, the transaction would look as if it had been sent before this database started to use the key.
 */
export async function startNonces({ db }: OperatorAccount, lease: Lease, count: bigint): Promise<void> {
  await withLease(db, lease, (tx) => setFirstNonce(tx, lease, count));
  lease.nextNonce = count;
}

/** Claims a nonce. Throws `LeaseLost` if another node has taken the lease or the nonce in the meantime. */
export async function reserveNonce(tx: Db, lease: Lease, nonce: bigint): Promise<void> {
  await holdLease(tx, lease);
  if (!(await advanceNextNonce(tx, lease, nonce))) throw new LeaseLost();
}

/** Includes pending transactions. The highest count of any provider, because a node may not know them all. */
export async function readPendingNonce({ chain, signer }: OperatorAccount): Promise<bigint> {
  const params = [signer.address, 'pending'];
  const counts = await Promise.allSettled(
    chain.rpc.providers().map((rpc) => readQuantity({ ...chain, rpc }, 'eth_getTransactionCount', params)),
  );
  const known = counts.flatMap((count) => (count.status === 'fulfilled' ? [count.value] : []));
  const [first] = known;
  if (first === undefined) return readQuantity(chain, 'eth_getTransactionCount', params);
  return known.reduce((highest, count) => (count > highest ? count : highest), first);
}

export function readNonce({ chain, signer }: ReadOnlyAccount, block: 'latest' | bigint): Promise<bigint> {
  const tag = block === 'latest' ? block : numberToHex(block);
  return readQuantity(chain, 'eth_getTransactionCount', [signer.address, tag]);
}
