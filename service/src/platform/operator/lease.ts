import type { Db } from '../db/pool.ts';
import type { KeyId } from './account.ts';
import { isLeaseHeld, upsertLease } from './lease-store.ts';

/** The exclusive right to send new transactions with one key. Only EVM chains use `nextNonce` and `seenNonce`. */
export type Lease = KeyId & {
  node: number;
  /** Increases whenever the lease changes hands. */
  epoch: bigint;
  /** The next nonce to use; null before the first use of the key. */
  nextNonce: bigint | null;
  /** The highest transaction count that an RPC node has reported; null if no such count was above our next nonce. */
  seenNonce: bigint | null;
};

/** Another node has taken the lease, or a command revoked it. What was signed under it must not be stored or sent. */
export class LeaseLost extends Error {
  constructor() {
    super("this node no longer holds the operator key's lease");
    this.name = 'LeaseLost';
  }
}

const LEASE_TTL_SECONDS = 15;

/**
 * Null while another node holds it. A stopped node's lease can be taken immediately, an unresponsive node's once it
 * has expired: if that node recovers, its calls to `holdLease` throw, so it cannot write anything under its old
 * lease.
 */
export async function takeLease(db: Db, wanted: KeyId & { node: number }): Promise<Lease | null> {
  const held = await upsertLease(db, wanted, LEASE_TTL_SECONDS);
  return held === null ? null : { ...wanted, ...held };
}

/**
 * Throws `LeaseLost` if this node no longer holds the lease. Every database transaction in which a settlement worker
 * writes must start with this call.
 */
export async function holdLease(tx: Db, lease: Lease): Promise<void> {
  if (!(await isLeaseHeld(tx, lease))) throw new LeaseLost();
}

export async function withLease<T>(db: Db, lease: Lease, work: (tx: Db) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await holdLease(tx, lease);
    return work(tx);
  });
}
