import { Stop } from './flow.ts';
import { readNode, type Session } from './session.ts';

type Hex = `0x${string}`;

export type MinedOrPending = { hash: Hex; from: Hex; to: Hex | null; nonce: Hex; input: Hex; value: Hex };

/** So far back it is looked for; the count of the account moves with the very block. */
const BLOCKS = 100;

/**
 * The hash of the same transaction at another price, mined in the place of a pending one; null while none is. Any
 * other transaction in its place is its owner's way to cancel it: `transaction_replaced`.
 */
export async function findReplacement(session: Session, pending: MinedOrPending): Promise<Hex | null> {
  const found = await findMined(session, pending);
  // The very same: it was mined between two looks.
  if (found === null || found.hash === pending.hash) return null;
  if (isSame(found, pending)) return found.hash;
  throw new Stop('transaction_replaced', 'Another transaction was sent in its place.', {
    transactionHash: pending.hash,
    details: { by: found.hash },
  });
}

/** For a transaction that was replaced before the node heard of it: its nonce is a guess, so only the same counts. */
export async function findSame(session: Session, guess: MinedOrPending): Promise<Hex | null> {
  const found = await findMined(session, guess);
  return found !== null && isSame(found, guess) ? found.hash : null;
}

/** What was mined with the nonce of a transaction. */
async function findMined(session: Session, { from, nonce }: MinedOrPending): Promise<MinedOrPending | null> {
  const mined = Number(await readNode(session, 'eth_getTransactionCount', [from, 'latest']));
  if (mined <= Number(nonce)) return null;
  const latest = Number(await readNode(session, 'eth_blockNumber'));
  for (let block = latest; block > Math.max(latest - BLOCKS, -1); block--) {
    const found = await findInBlock(session, block, { from, nonce });
    if (found !== undefined) return found;
  }
  return null;
}

async function findInBlock(
  session: Session,
  block: number,
  { from, nonce }: Pick<MinedOrPending, 'from' | 'nonce'>,
): Promise<MinedOrPending | undefined> {
  const params = [`0x${block.toString(16)}`, true];
  const { transactions = [] } = ((await readNode(session, 'eth_getBlockByNumber', params)) ?? {}) as {
    transactions?: MinedOrPending[];
  };
  return transactions.find(
    (one) => one.from.toLowerCase() === from.toLowerCase() && Number(one.nonce) === Number(nonce),
  );
}

function isSame(a: MinedOrPending, b: MinedOrPending): boolean {
  return (
    a.to?.toLowerCase() === b.to?.toLowerCase() && a.input === b.input && BigInt(a.value) === BigInt(b.value)
  );
}
