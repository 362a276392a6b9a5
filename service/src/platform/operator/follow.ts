import type { Hex } from 'viem';
import { hexToBigInt, numberToHex } from 'viem/utils';
import {
  type Block,
  type Finality,
  type Receipt,
  readBlocks,
  readFinality,
  readReceipts,
} from '../chain/evm/node-reads.ts';
import { revertData } from '../chain/evm/revert.ts';
import { findNodeError } from '../chain/rpc/failures.ts';
import type { Db } from '../db/pool.ts';
import type { OperatorAccount } from './account.ts';
import { type Confirming, forgetConfirmed } from './confirming.ts';
import { type Lease, withLease } from './lease.ts';
import { checkNonces, type NonceSuspicion } from './nonce-check.ts';
import { readNonce, startNonces } from './nonces.ts';
import { isCancelled, type PrerequisiteState, type ResendTimings, rebroadcast } from './rebroadcast.ts';
import { forgetExcept } from './refused-attempts.ts';
import { finalizeBelow, listOpen, listWatched, markOpen, markSettled } from './store.ts';
import { lastAttempt, type OpenTransaction, type TransactionKind } from './transaction.ts';
import { assertNonceUnused, assertNotSeen } from './unknown-transactions.ts';

/** Callbacks through which the code that requested a transaction learns its outcome. */
export type OutcomeHandlers = {
  /**
   * Called for a transaction that had no effect. Returns whether its work will be sent again in another transaction.
   * `revert` is the revert data, or null if an empty transfer has replaced the transaction.
   */
  isReleased(transaction: OpenTransaction, revert: Hex | null): boolean;
  /**
   * Runs in the database transaction that records the outcome. `revert` is the revert data, or null if the mined
   * attempt succeeded. An empty transfer that has replaced the transaction also counts as a success here.
   */
  settle(tx: Db, transaction: OpenTransaction, receipt: Receipt, revert: Hex | null): Promise<void>;
  /** Runs in the database transaction that reopens a transaction undone by a reorganization. */
  reopen(tx: Db, transaction: { id: string; kind: TransactionKind }): Promise<void>;
  prerequisiteState(transaction: OpenTransaction): Promise<PrerequisiteState>;
  /**
   * Returns whether the transaction may be signed again. Runs in the database transaction that stores the
   * signed bytes.
   */
  mayResign(tx: Db, transaction: OpenTransaction): Promise<boolean>;
  /** Returns whether this receipt is reliable enough to record the transaction's outcome. */
  isReliable(transaction: OpenTransaction, receipt: Receipt): Promise<boolean>;
};

export type FollowState = {
  /** The head at the last check of settled transactions. They are checked again only when the head changes. */
  head: CheckedHead | null;
  confirming: Confirming;
  nonces: NonceSuspicion;
  /**
   * `hash` identifies the latest attempt of the first unmined transaction. `since` is the block at which that attempt
   * was first seen unmined.
   */
  unmined: { hash: Hex; since: bigint } | null;
  /** The lease epoch in which our next nonce was last compared with the chain's pending nonce. */
  checkedEpoch: bigint | null;
};

export type FollowTimings = ResendTimings & {
  /**
   * How long the chain's nonce must disagree with ours before the service reacts. RPC nodes may disagree with each
   * other briefly.
   */
  nonceGraceMs: number;
};

/**
 * The head of the chain, and three block numbers: up to which block the chain counts as confirmed, as final and as
 * released (see `Finality`).
 */
export type CheckedHead = Block & Finality;

/**
 * Settled transactions in this many of the newest blocks are watched for reorganizations, even if the blocks are
 * final.
 */
const WATCHED_BLOCKS = 256n;

/**
 * The number of transactions in progress. Excludes confirmed transactions that had no effect: they only wait for their
 * block to be `released`, and then their work is sent in a new transaction.
 */
export type Progress = { unmined: number; confirming: number };

/** Advances every open transaction by one step, and reopens settled transactions that a reorganization undid. */
export async function followTransactions(
  account: OperatorAccount,
  lease: Lease,
  state: FollowState,
  timings: FollowTimings,
  handlers: OutcomeHandlers,
): Promise<Progress> {
  const [latest] = await readBlocks(account.chain, ['latest']);
  if (latest.hash !== state.head?.hash) {
    const checked = { ...latest, ...(await readFinality(account.chain, latest)) };
    await reopenReorganised(account, lease, checked, handlers);
    await forgetConfirmed(account.chain, state.confirming, checked);
    state.head = checked;
  }
  const { head, confirming } = state;
  const open = await listOpen(account.db, lease, [...confirming.keys()]);
  forgetExcept(account.refused, new Set(open.flatMap(({ attempts }) => attempts.map(({ hash }) => hash))));
  // Reads the chain's transaction count before the receipts, so that every transaction of ours that the count includes
  // has a receipt.
  const count = await readNonce(account, 'latest');
  const mined = await findMined(account, open);
  const unmined = open.filter(({ id }) => !mined.has(id));
  let undecided = 0;
  const blocks = countBlocksSince(state, unmined[0], head.number);
  for (const transaction of open) {
    const receipt = mined.get(transaction.id);
    if (receipt === undefined) {
      // A foreign transaction (one that is missing from our database) has used the nonce, so every node would reject
      // ours. `checkNonces` below reports this.
      if (transaction.nonce < count) continue;
      const isFirst = transaction === unmined[0];
      const prerequisite = await handlers.prerequisiteState(transaction);
      const mayResign = (tx: Db) => handlers.mayResign(tx, transaction);
      await rebroadcast(account, lease, transaction, { timings, isFirst, prerequisite, blocks, mayResign });
      continue;
    }
    const blockNumber = hexToBigInt(receipt.blockNumber);
    if (blockNumber > head.confirmed)
      confirming.set(transaction.id, { blockNumber, blockHash: receipt.blockHash });
    else if ((await settle(account, lease, transaction, receipt, head, handlers)) === 'undecided')
      undecided++;
  }
  await checkNonces(account, lease, state.nonces, timings.nonceGraceMs, count, unmined);
  assertNotSeen(lease, lease.nextNonce);
  if (state.checkedEpoch !== lease.epoch) {
    await assertNonceUnused(account, lease, lease.nextNonce ?? count);
    state.checkedEpoch = lease.epoch;
  }
  if (lease.nextNonce === null) await startNonces(account, lease, count);
  return { unmined: unmined.length, confirming: confirming.size + undecided };
}

/**
 * Returns how many blocks have passed since the latest attempt of this transaction was first seen unmined. If there is
 * no transaction, resets the count and returns 0.
 */
function countBlocksSince(state: FollowState, first: OpenTransaction | undefined, head: bigint): bigint {
  if (first === undefined) {
    state.unmined = null;
    return 0n;
  }
  const { hash } = lastAttempt(first);
  if (state.unmined?.hash !== hash) state.unmined = { hash, since: head };
  return head - state.unmined.since;
}

/** Returns the receipts of the mined attempts, keyed by transaction id. */
async function findMined(
  { chain }: OperatorAccount,
  open: readonly OpenTransaction[],
): Promise<Map<string, Receipt>> {
  const attempts = open.flatMap(({ id, attempts }) => attempts.map(({ hash }) => ({ id, hash })));
  const receipts = await readReceipts(
    chain,
    attempts.map(({ hash }) => hash),
  );
  const mined = new Map<string, Receipt>();
  for (const [i, { id }] of attempts.entries()) {
    const receipt = receipts[i];
    if (receipt != null) mined.set(id, receipt);
  }
  return mined;
}

/**
 * Records the outcome of a confirmed transaction if both its block and `head` are still on the chain. Settled
 * transactions are checked again only when the head is no longer `head`. If `head` were off the chain already, a
 * reorganization that removed this transaction could go unnoticed.
 */
async function settle(
  account: OperatorAccount,
  lease: Lease,
  transaction: OpenTransaction,
  receipt: Receipt,
  head: CheckedHead,
  handlers: OutcomeHandlers,
): Promise<'undecided' | 'awaiting release' | 'settled'> {
  const blockNumber = hexToBigInt(receipt.blockNumber);
  const [minedIn, top] = await readBlocks(account.chain, [blockNumber, head.number]);
  if (minedIn.hash !== receipt.blockHash || top.hash !== head.hash) return 'undecided';
  if (!(await handlers.isReliable(transaction, receipt))) return 'undecided';
  const succeeded = receipt.status === '0x1';
  const revert = succeeded ? null : await readRevert(account, transaction, blockNumber);
  const hasNoEffect = revert !== null || isCancelled(transaction, receipt.transactionHash);
  const isReleased = hasNoEffect && handlers.isReleased(transaction, revert);
  if (isReleased && blockNumber > head.released) return 'awaiting release';
  const { gasUsed, effectiveGasPrice } = receipt;
  const price =
    effectiveGasPrice === undefined ? lastAttempt(transaction).maxFee : hexToBigInt(effectiveGasPrice);
  const feePaid = hexToBigInt(gasUsed) * price;
  const { transactionHash: hash, blockHash } = receipt;
  const mined = { hash, blockNumber, blockHash, succeeded, feePaid };
  await withLease(account.db, lease, async (tx) => {
    if (await markSettled(tx, transaction.id, mined, isReleased ? 'final' : 'settled'))
      await handlers.settle(tx, transaction, receipt, revert);
  });
  return 'settled';
}

/**
 * Finds a call's revert data by replaying the call against the state before its block. If this replay succeeds,
 * something else in the block caused the revert, so the call is replayed against the state after the block. Returns
 * empty data if both replays succeed, or if all nodes have pruned these states.
 */
async function readRevert(
  { chain, signer }: OperatorAccount,
  { target, data, gas }: OpenTransaction,
  blockNumber: bigint,
): Promise<Hex> {
  const call = { from: signer.address, to: target, data, gas: numberToHex(gas) };
  for (const block of [blockNumber - 1n, blockNumber]) {
    try {
      await chain.rpc.request({ method: 'eth_call', params: [call, numberToHex(block)] });
    } catch (error) {
      const revert = revertData(error);
      if (revert !== undefined) return revert;
      if (findNodeError(error) === undefined) throw error;
    }
  }
  return '0x';
}

/**
 * Reopens settled transactions whose block is no longer on the chain. Checks the highest block first, and stops at the
 * first block that is on the chain, because all lower blocks are then on the chain too. Skips blocks above the head,
 * because the RPC node may merely be lagging.
 */
async function reopenReorganised(
  account: OperatorAccount,
  lease: Lease,
  { number: headNumber, final }: CheckedHead,
  handlers: OutcomeHandlers,
): Promise<void> {
  for (const transaction of await listWatched(account.db, lease)) {
    if (transaction.blockNumber > headNumber) continue;
    const [block] = await readBlocks(account.chain, [transaction.blockNumber]);
    if (block.hash === transaction.blockHash) break;
    account.log.warn(
      { chain: account.chain.name, transaction_id: transaction.id, block: String(transaction.blockNumber) },
      'reorganization undid a settled transaction',
    );
    await withLease(account.db, lease, async (tx) => {
      if (await markOpen(tx, transaction.id)) await handlers.reopen(tx, transaction);
    });
  }
  const watchedFrom = headNumber - WATCHED_BLOCKS < final ? headNumber - WATCHED_BLOCKS : final;
  if (watchedFrom > 0n) await finalizeBelow(account.db, lease, watchedFrom);
}
