import { newId } from '../../kernel/ids.ts';
import type { OperatorAccount } from './account.ts';
import { Blocked } from './blocked.ts';
import { proposeFees } from './fees.ts';
import { holdLease, type Lease, withLease } from './lease.ts';
import { endRequest } from './replacement-store.ts';
import { broadcast, emptyCall, signCall } from './sender.ts';
import { findByNonce, insertTransaction, markDisplaced, markOpen } from './store.ts';
import type { OpenTransaction } from './transaction.ts';

/** `since` is the time (`performance.now()`) at which the nonces first looked wrong; null while they look right. */
export type NonceSuspicion = { since: number | null };

/**
 * Compares the chain's transaction count with our nonces. Throws `Blocked` if the count is above our first unmined
 * nonce: the key was used elsewhere. A service with another database may have settled the same participations, so an
 * operator must act. One case is tolerated: the count is at most our next nonce, and foreign transactions have taken
 * only the nonces of our empty transactions.
 *
 * Also fills gaps. There is a gap if we have no live transaction at the chain's next nonce, but have used higher nonces
 * than that. Such a gap appears if a reorganization removes a foreign transaction. Our later transactions can be mined
 * only once the gap is closed: by an empty transaction of ours, or because the foreign transaction is mined again. If
 * the foreign transaction had displaced a transaction of ours that was not empty, throws `Blocked` instead of filling
 * the gap.
 */
export async function checkNonces(
  account: OperatorAccount,
  lease: Lease,
  suspicion: NonceSuspicion,
  graceMs: number,
  count: bigint,
  unmined: readonly OpenTransaction[],
): Promise<void> {
  if (lease.nextNonce === null) return;
  const displaced = unmined.filter(({ nonce }) => nonce < count);
  if (count > lease.nextNonce) await throwForeignNonce(account, lease, count, displaced);
  const atCount = count < lease.nextNonce ? await findByNonce(account.db, lease, count) : undefined;
  const isGap = atCount === null || atCount?.state === 'displaced';
  if (displaced.length === 0 && !isGap) {
    suspicion.since = null;
    return;
  }
  // Two nodes behind one RPC URL may briefly disagree, so wait for `graceMs`.
  suspicion.since ??= performance.now();
  if (performance.now() - suspicion.since < graceMs) return;
  // A live transaction at the chain's next nonce can still be mined, so its nonce does not count as taken.
  const taken = [...displaced, ...(atCount?.state === 'displaced' ? [atCount] : [])];
  const hasWork = taken.some(({ kind }) => kind !== 'fill');
  if (hasWork) await throwForeignNonce(account, lease, count, displaced);
  suspicion.since = null;
  for (const { id } of displaced) await withLease(account.db, lease, (tx) => markDisplaced(tx, id));
  if (!isGap) return;
  if (atCount === null) await fillNonce(account, lease, count);
  else if (atCount !== undefined)
    await withLease(account.db, lease, (tx) => markOpen(tx, atCount.id, 'displaced'));
}

/**
 * Drops operators' requests to replace the displaced transactions: they could be carried out much later, after a
 * reorganization removes the foreign transaction.
 */
async function throwForeignNonce(
  { db }: OperatorAccount,
  lease: Lease,
  count: bigint,
  displaced: readonly OpenTransaction[],
): Promise<never> {
  // If this node has lost the lease, its nonce is outdated. `withLease` then throws, so that no false alert is raised.
  await withLease(db, lease, async (tx) => {
    for (const { id, nonce, requested } of displaced)
      if (requested !== null) await endRequest(tx, id, requested, `the nonce ${nonce} is already used`);
  });
  const { address, chain } = lease;
  const message = `${address} has sent ${count} transactions on ${chain}, but some of them are not ours`;
  throw new Blocked('foreign_nonce', message);
}

async function fillNonce(account: OperatorAccount, lease: Lease, nonce: bigint): Promise<void> {
  const { db, chain, clock, random, signer, log } = account;
  log.warn({ chain: chain.name, nonce: String(nonce) }, 'filling a nonce gap with an empty transaction');
  const call = { kind: 'fill' as const, ...emptyCall(signer) };
  const signed = await signCall(account, call, nonce, await proposeFees(chain, account));
  const id = newId(clock, random);
  await db.transaction().execute(async (tx) => {
    await holdLease(tx, lease);
    await insertTransaction(tx, lease, { id, nonce, ...call }, signed);
  });
  await broadcast(account, signed.raw);
}
