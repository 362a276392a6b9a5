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

export type OutcomeHandlers = {
  /**
   * The transaction had no effect: returns whether its work will be sent again. `revert` is null if an empty transfer
   * has replaced it.
   */
  isReleased(transaction: OpenTransaction, revert: Hex | null): boolean;
  /**
   * Runs in the database transaction that records the outcome. `revert` is null if the mined attempt succeeded, also
   * if it is an empty transfer.
   */
  settle(tx: Db, transaction: OpenTransaction, receipt: Receipt, revert: Hex | null): Promise<void>;
  /** Runs in the database transaction that reopens a transaction undone by a reorganization. */
  reopen(tx: Db, transaction: { id: string; kind: TransactionKind }): Promise<void>;
  prerequisiteState(transaction: OpenTransaction): Promise<PrerequisiteState>;
  /** Whether the transaction may be signed again. Runs in the database transaction that stores the signed bytes. */
  mayResign(tx: Db, transaction: OpenTransaction): Promise<boolean>;
  /** Returns whether this receipt is reliable enough to record the transaction's outcome. */
  isReliable(transaction: OpenTransaction, receipt: Receipt): Promise<boolean>;
};

export type FollowState = {
  /** The head at the last check of settled transactions. They are checked again only when the head changes. */
  head: CheckedHead | null;
  confirming: Confirming;
  nonces: NonceSuspicion;
  /** The latest attempt of the first unmined transaction, and the block at which it was first seen unmined. */
  unmined: { hash: Hex; since: bigint } | null;
  /** The lease epoch in which our next nonce was last compared with the chain's pending nonce. */
  checkedEpoch: bigint | null;
};

export type FollowTimings = ResendTimings & {
  nonceGraceMs: number;
};

/** Up to which block the chain counts as confirmed, as final and as released. */
export type CheckedHead = Block & Finality;

/**
 * In this many of the newest blocks, settled transactions are watched for reorganizations, even if the blocks are
 * final.
 */
const WATCHED_BLOCKS = 256n;

/** Leaves out confirmed transactions that had no effect: they only wait for their block to be `released`. */
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
  // Before the receipts, so that every transaction of ours that the count includes has a receipt.
  const count = await readNonce(account, 'latest');
  const mined = await findMined(account, open);
  const unmined = open.filter(({ id }) => !mined.has(id));
  let undecided = 0;
  const blocks = countBlocksSince(state, unmined[0], head.number);
  for (const transaction of open) {
    const receipt = mined.get(transaction.id);
    if (receipt === undefined) {
      // A foreign transaction has used the nonce, so every node would reject ours. `checkNonces` below reports this.
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

/** Since the latest attempt of this transaction was first seen unmined. Without a transaction, resets the count. */
function countBlocksSince(state: FollowState, first: OpenTransaction | undefined, head: bigint): bigint {
  if (first === undefined) {
    state.unmined = null;
    return 0n;
  }
  const { hash } = lastAttempt(first);
  if (state.unmined?.hash !== hash) state.unmined = { hash, since: head };
  return head - state.unmined.since;
}

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
 * Both the block and `head` must still be on the chain. Settled transactions are checked again only when the head is
 * no longer `head`: if that were off the chain already, a reorganization could go unnoticed.
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
 * Replays the call against the state before its block; if that succeeds, something else in the block caused the
 * revert, so against the state after it. Empty if both succeed, or if all nodes have pruned these states.
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
 * Checks the highest block first, and stops at the first one on the chain, because all lower ones are then on it too.
 * Skips blocks above the head, because the node may merely be lagging.
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
