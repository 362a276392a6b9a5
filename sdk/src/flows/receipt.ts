import type { Hex } from 'viem';
import { notify } from '../notify.ts';
import { sleep } from '../sleep.ts';
import { FlowFailure } from './flow.ts';
import { findReplacement, findSameCall } from './replacement.ts';
import { describeRevert } from './revert.ts';
import type { Receipt, RpcTransaction } from './rpc.ts';
import { isOnChain, readNode, type Session, wrongChain } from './session.ts';
import { messageOf } from './wallet-error.ts';

/** How long a node may take to learn of a transaction that was just sent. */
const PROPAGATION_TIMEOUT_MS = 60_000;
/** How many consecutive polls may fail. */
const MAX_FAILURES = 5;
const UNKNOWN_REASON = 'the reason is unknown';

/**
 * Waits until a transaction is mined. If its owner speeds it up, follows the replacement and calls `onReplaced`. Unlike
 * viem's `waitForTransactionReceipt`, this function can be aborted and survives failed polls.
 */
export async function waitForReceipt(
  session: Session,
  sent: Hex,
  onReplaced?: (hash: Hex) => void,
): Promise<Receipt> {
  const startedAt = Date.now();
  const watched: Watched = { hash: sent, transaction: null, isOnChain: true };
  for (let failures = 0; ; ) {
    try {
      const receipt = await poll(session, watched);
      failures = 0;
      if (receipt !== null) return await checkReceipt(session, receipt, sent, onReplaced);
    } catch (error) {
      if (error instanceof FlowFailure || session.signal?.aborted || ++failures > MAX_FAILURES)
        throw withHash(error, sent, session.signal);
    }
    const elapsedMs = Date.now() - startedAt;
    if (elapsedMs >= session.confirmationTimeoutMs) throw timedOut(session, watched);
    if (watched.isOnChain && watched.transaction === null && elapsedMs >= PROPAGATION_TIMEOUT_MS)
      throw notFound(watched.hash);
    await sleep(session.pollIntervalMs, session.signal).catch((reason) => {
      throw withHash(reason, sent, session.signal);
    });
  }
}

type Watched = { hash: Hex; transaction: RpcTransaction | null; isOnChain: boolean };

/**
 * Looks for the receipt once. Returns null if the transaction is not mined yet. Also returns null if the chain can be
 * read only through the wallet, and the wallet is on another chain.
 */
async function poll(session: Session, watched: Watched): Promise<Receipt | null> {
  watched.isOnChain = session.reader !== undefined || (await isOnChain(session));
  if (!watched.isOnChain) return null;
  const receipt = await readReceipt(session, watched.hash);
  if (receipt !== null) return receipt;
  const transaction = await readNode(session, 'eth_getTransactionByHash', [watched.hash]);
  watched.transaction = (transaction as RpcTransaction | null) ?? watched.transaction;
  const guess = session.sent.get(watched.hash);
  const replacement =
    watched.transaction !== null
      ? await findReplacement(session, watched.transaction)
      : guess && (await findSameCall(session, guess));
  return replacement ? readReceipt(session, replacement) : null;
}

async function readReceipt(session: Session, hash: Hex): Promise<Receipt | null> {
  const receipt = (await readNode(session, 'eth_getTransactionReceipt', [hash])) as Receipt | null;
  return receipt?.blockNumber ? receipt : null;
}

async function checkReceipt(
  session: Session,
  receipt: Receipt,
  sent: Hex,
  onReplaced: ((hash: Hex) => void) | undefined,
): Promise<Receipt> {
  const hash = receipt.transactionHash.toLowerCase() as Hex;
  if (hash !== sent) {
    session.reportTransaction(hash);
    notify(onReplaced, hash);
  }
  if (Number(receipt.status) === 1) return { ...receipt, transactionHash: hash };
  const reason = await findRevertReason(session, receipt);
  throw new FlowFailure('transaction_reverted', `The transaction failed on chain: ${reason}.`, {
    transactionHash: hash,
    details: { reason },
  });
}

/**
 * Finds out why a transaction reverted, by repeating its call against the state before its block and then against the
 * state after that block. Because of other transactions in the block, the call may revert against only one of these
 * states.
 */
async function findRevertReason(
  session: Session,
  { transactionHash, blockNumber }: Receipt,
): Promise<string> {
  const transaction = await readNode(session, 'eth_getTransactionByHash', [transactionHash]).catch(
    () => null,
  );
  if (transaction === null) return UNKNOWN_REASON;
  const { from, to, input: data, value } = transaction as RpcTransaction;
  for (const block of [BigInt(blockNumber) - 1n, BigInt(blockNumber)]) {
    const call = [{ from, to, data, value }, `0x${block.toString(16)}`];
    const reason = await readNode(session, 'eth_call', call).then(() => null, describeRevert);
    if (reason !== null) return reason;
  }
  return UNKNOWN_REASON;
}

/**
 * Converts the error that ended the wait into a failure that contains the hash. The app needs the hash, because the
 * transaction may still be mined.
 */
function withHash(error: unknown, transactionHash: Hex, signal: AbortSignal | undefined): FlowFailure {
  if (error instanceof FlowFailure) return error;
  const info = { cause: error, transactionHash };
  if (signal?.aborted) return new FlowFailure('aborted', 'The flow was aborted by its signal.', info);
  return new FlowFailure('wallet_error', messageOf(error), info);
}

function timedOut(session: Session, { hash, transaction, isOnChain }: Watched): FlowFailure {
  if (!isOnChain) return wrongChain(session, undefined, hash);
  if (transaction === null) return notFound(hash);
  return notInTime(hash);
}

export function notInTime(transactionHash: string): FlowFailure {
  return new FlowFailure(
    'confirmation_timeout',
    'The transaction was not mined in time. It may still be mined.',
    { transactionHash },
  );
}

export function notFound(transactionHash: string): FlowFailure {
  return new FlowFailure(
    'transaction_not_found',
    'The transaction was not found on chain. It was dropped or never sent.',
    { transactionHash },
  );
}
