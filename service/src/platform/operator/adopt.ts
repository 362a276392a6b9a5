import { readBlocks, readFinality, readReceipts } from '../chain/evm/node-reads.ts';
import type { Db } from '../db/pool.ts';
import { keyId, type ReadOnlyAccount } from './account.ts';
import { findNextNonce, revokeLease } from './lease-store.ts';
import { readNonce } from './nonces.ts';
import { listOpen, markDisplaced } from './store.ts';
import type { OpenTransaction } from './transaction.ts';

/** A foreign transaction (signed with our key, but missing from this database) has too few confirmations. */
export class NotDeepEnough extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotDeepEnough';
  }
}

/**
 * Continues from the chain's nonce after the key was used elsewhere. Returns the next nonce. If a foreign transaction
 * has taken the nonce of one of our transactions, calls `release` for our transaction, so that its work can be sent
 * again. Throws `NotDeepEnough` in two cases:
 * - A foreign transaction is in a block after `comparedBlock`, the last block whose events were compared with the
 *   database. The foreign transaction may have settled participations that we would settle again.
 * - A foreign transaction has taken one of our nonces, but a reorganization could still undo the foreign transaction.
 *   Then our old transaction and its replacement could both be mined.
 */
export async function adoptChainNonce(
  account: ReadOnlyAccount,
  comparedBlock: bigint,
  release: (tx: Db, transaction: OpenTransaction) => Promise<void>,
): Promise<bigint> {
  const { db } = account;
  const key = keyId(account);
  const { count, displaced } = await readChainNonce(account, comparedBlock);
  return db.transaction().execute(async (tx) => {
    // The holder of the lease can no longer store transactions, so it never sends those that it has only signed.
    const nextNonce = await revokeLease(tx, key, count);
    for (const transaction of displaced)
      if (await markDisplaced(tx, transaction.id)) await release(tx, transaction);
    return nextNonce ?? count;
  });
}

/** `displaced` lists our transactions whose nonce is taken by a foreign transaction. */
export type ChainNonce = { count: bigint; nextNonce: bigint; displaced: OpenTransaction[] };

/** Reads what `adoptChainNonce` would adopt, and throws the same errors. */
export async function readChainNonce(account: ReadOnlyAccount, comparedBlock: bigint): Promise<ChainNonce> {
  const count = await readNonce(account, 'latest');
  const displaced = await listDisplaced(account, count);
  await assertCompared(account, count, comparedBlock);
  await assertDeepEnough(account, displaced);
  const stored = (await findNextNonce(account.db, keyId(account))) ?? 0n;
  return { count, displaced, nextNonce: stored > count ? stored : count };
}

/** Their nonce is below the chain's transaction count, but none of our attempts was mined. */
async function listDisplaced(account: ReadOnlyAccount, count: bigint): Promise<OpenTransaction[]> {
  const displaced: OpenTransaction[] = [];
  for (const transaction of await listOpen(account.db, keyId(account))) {
    if (transaction.nonce >= count) continue;
    const hashes = transaction.attempts.map(({ hash }) => hash);
    const receipts = await readReceipts(account.chain, hashes);
    if (receipts.every((receipt) => receipt === null)) displaced.push(transaction);
  }
  return displaced;
}

async function assertCompared(account: ReadOnlyAccount, count: bigint, block: bigint): Promise<void> {
  const next = await findNextNonce(account.db, keyId(account));
  if (next === null || next >= count) return;
  const compared = block < 0n ? 0n : await readNonce(account, block);
  if (compared < count)
    throw new NotDeepEnough(`the transaction with nonce ${count - 1n} is not final yet; try again later`);
}

async function assertDeepEnough(
  account: ReadOnlyAccount,
  displaced: readonly OpenTransaction[],
): Promise<void> {
  const nonces = displaced.filter(({ kind }) => kind !== 'fill').map(({ nonce }) => nonce);
  if (nonces.length === 0) return;
  const [head] = await readBlocks(account.chain, ['latest']);
  const { released } = await readFinality(account.chain, head);
  const deepCount = released < 0n ? 0n : await readNonce(account, released);
  const shallow = nonces.find((nonce) => nonce >= deepCount);
  if (shallow !== undefined)
    throw new NotDeepEnough(
      `the foreign transaction with nonce ${shallow} is not final yet (this takes 64 blocks on chains without finality); try again later`,
    );
}
