import { sleep } from '../sleep.ts';
import { Stop } from './flow.ts';
import { findReplacement, findSame, type MinedOrPending } from './replacement.ts';
import { describeRevert } from './revert.ts';
import { isOnChain, readNode, type Session, wrongChain } from './session.ts';
import { messageOf } from './wallet-error.ts';

type Hex = `0x${string}`;

export type Log = { address: Hex; topics: Hex[]; data: Hex };
export type Receipt = { transactionHash: Hex; blockNumber: Hex; status: Hex; logs: Log[] };

/** So long a node may know nothing of a transaction that was just sent. */
const UNKNOWN_FOR = 60_000;
/** So many looks in a row may fail. */
const FAILURES = 5;

/**
 * Waits until the transaction is mined, and follows it when its owner speeds it up (`onReplaced`). Not viem's
 * `waitForTransactionReceipt`: that one cannot be aborted, and gives up at the first failed look.
 */
export async function waitForReceipt(
  session: Session,
  sent: Hex,
  onReplaced?: (hash: Hex) => void,
): Promise<Receipt> {
  const begun = Date.now();
  const watched: Watched = { hash: sent, transaction: null, isOnChain: true };
  for (let failures = 0; ; ) {
    try {
      const receipt = await look(session, watched);
      failures = 0;
      if (receipt !== null) return await settle(session, receipt, sent, onReplaced);
    } catch (error) {
      if (error instanceof Stop || session.signal?.aborted || ++failures > FAILURES)
        throw withHash(error, sent, session.signal);
    }
    const waited = Date.now() - begun;
    if (waited >= session.confirmWithin) throw timeOver(session, watched);
    if (watched.isOnChain && watched.transaction === null && waited >= UNKNOWN_FOR)
      throw notFound(watched.hash);
    await sleep(session.pollEvery, session.signal).catch((reason) => {
      throw withHash(reason, sent, session.signal);
    });
  }
}

type Watched = { hash: Hex; transaction: MinedOrPending | null; isOnChain: boolean };

/** Null while there is nothing to tell. A wallet that is on another chain for now would only tell about that one. */
async function look(session: Session, watched: Watched): Promise<Receipt | null> {
  watched.isOnChain = await isOnChain(session);
  if (!watched.isOnChain) return null;
  const receipt = await readReceipt(session, watched.hash);
  if (receipt !== null) return receipt;
  const transaction = await readNode(session, 'eth_getTransactionByHash', [watched.hash]);
  watched.transaction = (transaction as MinedOrPending | null) ?? watched.transaction;
  const guess = session.sent.get(watched.hash);
  const replacement =
    watched.transaction !== null
      ? await findReplacement(session, watched.transaction)
      : guess && (await findSame(session, guess));
  return replacement ? readReceipt(session, replacement) : null;
}

async function readReceipt(session: Session, hash: Hex): Promise<Receipt | null> {
  const receipt = (await readNode(session, 'eth_getTransactionReceipt', [hash])) as Receipt | null;
  return receipt?.blockNumber ? receipt : null;
}

async function settle(
  session: Session,
  receipt: Receipt,
  sent: Hex,
  onReplaced: ((hash: Hex) => void) | undefined,
): Promise<Receipt> {
  const hash = receipt.transactionHash.toLowerCase() as Hex;
  if (hash !== sent) {
    session.tell(hash);
    onReplaced?.(hash);
  }
  if (Number(receipt.status) === 1) return { ...receipt, transactionHash: hash };
  const reason = await findReason(session, receipt);
  throw new Stop('transaction_reverted', `The transaction failed on chain: ${reason}.`, {
    transactionHash: hash,
    details: { reason },
  });
}

/** The same call again on the state before it and after it; which of the two tells depends on what else was mined. */
async function findReason(session: Session, { transactionHash, blockNumber }: Receipt): Promise<string> {
  const transaction = await readNode(session, 'eth_getTransactionByHash', [transactionHash]).catch(
    () => null,
  );
  if (transaction === null) return 'the reason is not known';
  const { from, to, input: data, value } = transaction as MinedOrPending;
  for (const block of [BigInt(blockNumber) - 1n, BigInt(blockNumber)]) {
    const call = [{ from, to, data, value }, `0x${block.toString(16)}`];
    const reason = await readNode(session, 'eth_call', call).then(() => null, describeRevert);
    if (reason !== null) return reason;
  }
  return 'the reason is not known';
}

/** Whatever ends the waiting, the transaction is out: who is told of the end is told which one. */
function withHash(error: unknown, transactionHash: Hex, signal: AbortSignal | undefined): Stop {
  if (error instanceof Stop) return error;
  const more = { cause: error, transactionHash };
  if (signal?.aborted)
    return new Stop('aborted', 'The flow was stopped while a transaction was on its way.', more);
  return new Stop('wallet_error', messageOf(error), more);
}

function timeOver(session: Session, { hash, transaction, isOnChain }: Watched): Stop {
  if (!isOnChain) return wrongChain(session, undefined, hash);
  if (transaction === null) return notFound(hash);
  return new Stop('confirmation_timeout', 'The transaction was not mined in time. It may still be.', {
    transactionHash: hash,
  });
}

function notFound(transactionHash: Hex): Stop {
  return new Stop('transaction_not_found', 'The chain does not know this transaction.', { transactionHash });
}
