import type { Hex } from 'viem';
import { hexToBigInt, numberToHex, parseTransaction } from 'viem/utils';
import type { RpcReply } from '../chain/evm/endpoint.ts';
import { NodeError } from '../chain/evm/failures.ts';
import { revertData } from '../chain/evm/revert.ts';
import type { Db } from '../db/pool.ts';
import { Blocked } from './blocked.ts';
import { proposeFees, raiseFees } from './fees.ts';
import { holdLease, type Lease } from './lease.ts';
import { checkNonces } from './nonces.ts';
import {
  broadcast,
  type Call,
  emptyCall,
  isAboutFees,
  lastAttempt,
  type Operator,
  readNonce,
  signCall,
} from './sender.ts';
import {
  finalizeBelow,
  insertAttempt,
  listOpen,
  listWatched,
  markOpen,
  markSettled,
  type OpenTransaction,
  type TransactionKind,
} from './store.ts';

export type Log = { address: Hex; topics: Hex[]; data: Hex };
export type Receipt = {
  transactionHash: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  status: Hex;
  gasUsed: Hex;
  logs: Log[];
};

export type Block = { number: bigint; hash: Hex };

/** What the chain's verdict means to whoever asked for the transaction. */
export type Outcomes = {
  /** Whether what this reverted transaction should have done will be asked for again, by another one. */
  isReleased(transaction: OpenTransaction, revert: Hex): boolean;
  /** Runs in the transaction that records the verdict; `revert` is null for one that succeeded. */
  settle(tx: Db, transaction: OpenTransaction, receipt: Receipt, revert: Hex | null): Promise<void>;
  /** Likewise, when a reorganisation has undone it. */
  reopen(tx: Db, transaction: { id: string; kind: TransactionKind }): Promise<void>;
  /** Whether what an unmined transaction builds upon is still there, may yet be, or is gone for now. */
  prerequisiteState(transaction: OpenTransaction): Promise<'firm' | 'open' | 'gone'>;
};

/** `head`: up to which every settled transaction was found in its block; so a quiet chain costs one question. */
export type Following = { head: Block | null; suspectSince: number | null };

export type Pace = {
  /** Seconds until bytes that a node has taken are sent again. */
  resend: number;
  /** Seconds until an unmined transaction is replaced by one with higher fees. */
  bump: number;
  /** Milliseconds that a nonce must look wrong before anything is done about it. */
  suspect: number;
};

/** How deep a settled transaction is still watched: past the finality of every chain that has one. */
const WATCHED_BLOCKS = 256n;

/**
 * How deep a reverted transaction must lie before its work is given to another. Its signed bytes are known to the world:
 * if a reorganisation took it out of the chain, it could be mined again and succeed, beside the other one.
 */
export const RELEASE_BLOCKS = 64n;

/**
 * Takes every open transaction one step further, and settled ones back where a reorganisation undid them. Answers how
 * many are under way; those that only wait to lie deep enough to be released are not.
 */
export async function followTransactions(
  operator: Operator,
  lease: Lease,
  following: Following,
  pace: Pace,
  outcomes: Outcomes,
): Promise<number> {
  const head = await readBlock(operator, 'latest');
  if (head.hash !== following.head?.hash) {
    await undoReorganised(operator, lease, head.number, outcomes);
    following.head = head;
  }
  const open = await listOpen(operator.db, lease);
  // Before the receipts: what it counts must have one.
  const count = await readNonce(operator, 'latest');
  const mined = await readReceipts(operator, open);
  const unmined = open.filter(({ id }) => !mined.has(id));
  let left = unmined.length;
  for (const transaction of open) {
    const receipt = mined.get(transaction.id);
    if (receipt === undefined)
      await push(operator, lease, transaction, pace, transaction === unmined[0], outcomes);
    else if ((await settle(operator, lease, transaction, receipt, head, outcomes)) === 'confirming') left++;
  }
  await checkNonces(operator, lease, following, pace, count, unmined);
  return left;
}

type At = 'latest' | bigint;

async function readBlock(operator: Operator, at: At): Promise<Block> {
  const [block] = await readBlocks(operator, [at]);
  return block;
}

/** All as one node has them. */
async function readBlocks<const A extends readonly At[]>(
  { chain }: Operator,
  ats: A,
): Promise<{ [I in keyof A]: Block }> {
  const tags = ats.map((at) => (at === 'latest' ? at : numberToHex(at)));
  const replies = await chain.rpc.batch(
    tags.map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })),
  );
  const blocks = tags.map((tag, i) => {
    const block = resultOf(replies[i]) as { number: Hex; hash: Hex } | null;
    // A node that lags behind does not have the block; that says nothing about the chain.
    if (block === null) throw new Error(`${chain.name} has no block ${tag}`);
    return { number: hexToBigInt(block.number), hash: block.hash };
  });
  return blocks as { [I in keyof A]: Block };
}

/** By id of the transaction; of all attempts the one that was mined. */
async function readReceipts({ chain }: Operator, open: OpenTransaction[]): Promise<Map<string, Receipt>> {
  const asked = open.flatMap(({ id, attempts }) => attempts.map(({ hash }) => ({ id, hash })));
  const found = new Map<string, Receipt>();
  if (asked.length === 0) return found;
  const calls = asked.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
  const replies = await chain.rpc.batch(calls);
  for (const [i, { id }] of asked.entries()) {
    const receipt = resultOf(replies[i]) as Receipt | null;
    if (receipt !== null) found.set(id, receipt);
  }
  return found;
}

function resultOf(reply: RpcReply | undefined): unknown {
  if (reply === undefined) throw new Error('a reply is missing');
  if ('error' in reply) throw reply.error;
  return reply.result ?? null;
}

/**
 * Records the verdict once it is deep enough and its block is still the chain's, with everything up to `head`: a block of
 * another branch would vouch for the settled transactions below it, which were found on this one.
 */
async function settle(
  operator: Operator,
  lease: Lease,
  transaction: OpenTransaction,
  receipt: Receipt,
  head: Block,
  outcomes: Outcomes,
): Promise<'confirming' | 'to be released' | 'settled'> {
  const blockNumber = hexToBigInt(receipt.blockNumber);
  const depth = head.number - blockNumber + 1n;
  if (depth < BigInt(operator.chain.facts.confirmations)) return 'confirming';
  const [own, top] = await readBlocks(operator, [blockNumber, head.number]);
  if (own.hash !== receipt.blockHash || top.hash !== head.hash) return 'confirming';
  const succeeded = receipt.status === '0x1';
  const revert = succeeded ? null : await readRevert(operator, transaction, blockNumber);
  const released = revert !== null && outcomes.isReleased(transaction, revert);
  if (released && depth < RELEASE_BLOCKS) return 'to be released';
  const mined = { hash: receipt.transactionHash, blockNumber, blockHash: receipt.blockHash, succeeded };
  await operator.db.transaction().execute(async (tx) => {
    await holdLease(tx, lease);
    if (await markSettled(tx, transaction.id, mined, released ? 'final' : 'settled'))
      await outcomes.settle(tx, transaction, receipt, revert);
  });
  return 'settled';
}

/**
 * What the call reverts with on the state before its block or, where something else in that block was the reason, after
 * it. Empty when it would succeed on both, and when the node no longer knows them.
 */
async function readRevert(
  { chain, signer }: Operator,
  { target, data, gas }: OpenTransaction,
  blockNumber: bigint,
): Promise<Hex> {
  const call = { from: signer.address, to: target, data, gas: numberToHex(gas) };
  for (const block of [blockNumber - 1n, blockNumber]) {
    try {
      await chain.rpc.request({ method: 'eth_call', params: [call, numberToHex(block)] });
    } catch (error) {
      const found = revertData(error);
      if (found !== undefined) return found;
      if (!(error instanceof NodeError)) throw error;
    }
  }
  return '0x';
}

/**
 * A block that is still the chain's vouches for all below it, so the highest is asked first and mostly the only one.
 * Another hash at a height is a reorganisation; no block at a height is a node that lags.
 */
async function undoReorganised(
  operator: Operator,
  lease: Lease,
  head: bigint,
  outcomes: Outcomes,
): Promise<void> {
  for (const transaction of await listWatched(operator.db, lease)) {
    if (transaction.blockNumber > head) continue;
    if ((await readBlock(operator, transaction.blockNumber)).hash === transaction.blockHash) break;
    operator.log.warn(
      { chain: operator.chain.name, transaction_id: transaction.id, block: String(transaction.blockNumber) },
      'a settled transaction was reorganised away',
    );
    await operator.db.transaction().execute(async (tx) => {
      await holdLease(tx, lease);
      if (await markOpen(tx, transaction.id)) await outcomes.reopen(tx, transaction);
    });
  }
  if (head > WATCHED_BLOCKS) await finalizeBelow(operator.db, lease, head - WATCHED_BLOCKS);
}

/**
 * Not mined yet: send it again, and replace it by the same call with higher fees. Only the first in line can be held up by
 * its fees; the others wait for it. One that lost its ground is replaced by an empty transfer, because its nonce must be
 * used; while its ground is open it is not sent.
 */
async function push(
  operator: Operator,
  lease: Lease,
  transaction: OpenTransaction,
  pace: Pace,
  isFirst: boolean,
  outcomes: Outcomes,
): Promise<void> {
  const ground = await outcomes.prerequisiteState(transaction);
  if (ground === 'open') return;
  const last = lastAttempt(transaction);
  const call = ground === 'gone' ? emptyCall(operator.signer) : transaction;
  if (ground === 'gone' && !isEmpty(last.raw)) return replace(operator, lease, transaction, call);
  const isDue = last.sentAge === null || last.sentAge > pace.resend;
  // Even where it cannot be replaced: a node forgets what waits too long.
  const refusal = isDue ? await broadcast(operator, last.raw) : null;
  if (!isFirst || last.age <= pace.bump) return;
  if (refusal === null && last.sentAge === null) return;
  if (refusal !== null && !isAboutFees(refusal))
    throw new Blocked('refused', `a node does not take a transaction: ${refusal}`);
  await replace(operator, lease, transaction, call);
}

async function replace(
  operator: Operator,
  lease: Lease,
  transaction: OpenTransaction,
  call: Omit<Call, 'kind'>,
): Promise<void> {
  const proposed = await proposeFees(operator.chain, operator.maxFee);
  const fees = raiseFees(lastAttempt(transaction), proposed, operator.maxFee);
  if (fees === null)
    throw new Blocked('fee_cap', 'an unmined transaction cannot be raised above the fee cap');
  const signed = await signCall(operator, call, transaction.nonce, fees);
  await operator.db.transaction().execute(async (tx) => {
    await holdLease(tx, lease);
    await insertAttempt(tx, transaction.id, signed);
  });
  await broadcast(operator, signed.raw);
}

function isEmpty(raw: Hex): boolean {
  return parseTransaction(raw).data === undefined;
}
