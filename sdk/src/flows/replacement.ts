import type { Hex } from 'viem';
import { FlowFailure } from './flow.ts';
import type { RpcTransaction } from './rpc.ts';
import { readNode, type Session } from './session.ts';

/** How many recent blocks to search. The replacement is usually in the latest one. */
const MAX_BLOCKS = 100;

/**
 * Finds the mined transaction that replaced a pending one. Returns the replacement's hash if the replacement makes the
 * same call, for example with a higher fee. Returns null if there is no replacement yet. Throws `transaction_replaced`
 * if the replacement makes a different call, which is how owners cancel transactions.
 */
export async function findReplacement(session: Session, pending: RpcTransaction): Promise<Hex | null> {
  const mined = await findMined(session, pending);
  // If the hashes are equal, the transaction itself was mined between two polls.
  if (mined === null || mined.hash === pending.hash) return null;
  if (isSameCall(mined, pending)) return mined.hash;
  throw new FlowFailure('transaction_replaced', 'The transaction was cancelled or replaced in the wallet.', {
    transactionHash: pending.hash,
    details: { by: mined.hash },
  });
}

/**
 * Like `findReplacement`, but for a transaction that was replaced before the node saw it. The nonce in `guess` is an
 * estimate, so a mined transaction with a different call may be unrelated and is ignored.
 */
export async function findSameCall(session: Session, guess: RpcTransaction): Promise<Hex | null> {
  const mined = await findMined(session, guess);
  return mined !== null && isSameCall(mined, guess) ? mined.hash : null;
}

/** Finds the mined transaction with this sender and nonce. */
async function findMined(session: Session, { from, nonce }: RpcTransaction): Promise<RpcTransaction | null> {
  const count = Number(await readNode(session, 'eth_getTransactionCount', [from, 'latest']));
  if (count <= Number(nonce)) return null;
  const latest = Number(await readNode(session, 'eth_blockNumber'));
  for (let block = latest; block > Math.max(latest - MAX_BLOCKS, -1); block--) {
    const found = await findInBlock(session, block, { from, nonce });
    if (found !== undefined) return found;
  }
  return null;
}

async function findInBlock(
  session: Session,
  block: number,
  { from, nonce }: Pick<RpcTransaction, 'from' | 'nonce'>,
): Promise<RpcTransaction | undefined> {
  const params = [`0x${block.toString(16)}`, true];
  const { transactions = [] } = ((await readNode(session, 'eth_getBlockByNumber', params)) ?? {}) as {
    transactions?: RpcTransaction[];
  };
  return transactions.find(
    (transaction) =>
      transaction.from.toLowerCase() === from.toLowerCase() && Number(transaction.nonce) === Number(nonce),
  );
}

function isSameCall(a: RpcTransaction, b: RpcTransaction): boolean {
  return (
    a.to?.toLowerCase() === b.to?.toLowerCase() && a.input === b.input && BigInt(a.value) === BigInt(b.value)
  );
}
