import type { Hex } from 'viem';
import { readBlocks } from '../chain/evm/blocks.ts';
import type { EvmChain } from '../chain/evm/client.ts';
import { readFinality } from '../chain/evm/finality.ts';
import {
  type MinedFundEvent,
  type MinedTransaction,
  readFundEvents,
  readTransactions,
} from '../chain/evm/fund-events.ts';
import type { Db } from '../db/pool.ts';
import { type Match, matchEvents } from './reconcile-match.ts';
import {
  findLastBlock,
  type KnownTransaction,
  listBooked,
  listFunds,
  listKnown,
  listSigners,
} from './reconcile-store.ts';

/** A transaction of ours that the database does not know, and the rows that it settled. */
export type LostTransaction = MinedTransaction & {
  to: Hex;
  kind: 'commit' | 'remit';
  blockNumber: bigint;
  blockHash: Hex;
  rowIds: string[];
};

/** What the chain and the database disagree about. The offers of the fund are paused. */
export type Difference = { fund: Hex; offerIds: string[]; message: string };

export type ReconcilePlan = {
  chain: string;
  fromBlock: bigint;
  toBlock: bigint;
  events: number;
  lost: LostTransaction[];
  differences: Difference[];
};

/** How far below the last known block the search starts, and how far back it goes if no block is known. */
const OVERLAP_BLOCKS = 256n;
const DEFAULT_BLOCKS = 50_000n;

/**
 * Compares the final events of every fund on the chain with the rows, and plans what to adopt. Only transactions of our
 * own keys are adopted, into rows that exist and that no other transaction has settled. Changes nothing.
 */
export async function planReconcile(db: Db, chain: EvmChain, fromBlock?: bigint): Promise<ReconcilePlan> {
  const [head] = await readBlocks(chain, ['latest']);
  const { final: toBlock } = await readFinality(chain, head);
  const last = await findLastBlock(db, chain.name);
  const earliest = last === null ? toBlock - DEFAULT_BLOCKS : last - OVERLAP_BLOCKS;
  const from = fromBlock ?? (earliest > 0n ? earliest : 0n);
  const funds = await listFunds(db, chain.name);
  const offersOf = new Map(funds.map(({ fund, offerIds }) => [fund, offerIds]));
  const addresses = funds.map(({ fund }) => fund);
  const { events, disputed } = await readAgreedEvents(chain, addresses, from, toBlock);
  const hashes = [...new Set(events.map(({ hash }) => hash))];
  const known = await listKnown(db, chain.name, hashes);
  const unknown = hashes.filter((hash) => !isBooked(known, hash));
  const transactions = await readTransactions(chain, unknown);
  const match = matchEvents({
    events,
    known,
    ...{ from, to: toBlock },
    rows: await listBooked(db, chain.name, [...new Set(events.map(({ user }) => user))], {
      from,
      to: toBlock,
    }),
    signers: await listSigners(db, chain.name),
    transactions: new Map(transactions.flatMap((each) => (each === null ? [] : [[each.hash, each]]))),
  });
  return {
    chain: chain.name,
    fromBlock: from,
    toBlock,
    events: events.length,
    lost: disputed.length > 0 ? [] : toLost(match),
    differences: [
      ...disputed.map((fund) => ({ fund, message: 'two RPC providers report different events' })),
      ...match.differences,
    ].map(({ fund, message }) => ({ fund, message, offerIds: offersOf.get(fund) ?? [] })),
  };
}

/** Displaced transactions were abandoned, so an attempt that was mined after all counts as a lost transaction. */
function isBooked(known: readonly KnownTransaction[], hash: Hex): boolean {
  return known.some((each) => each.hash === hash && each.state !== 'displaced');
}

function toLost({ adopted }: Match): LostTransaction[] {
  return adopted.map(({ transaction, kind, first, rows }) => ({
    ...transaction,
    kind,
    to: first.fund,
    blockNumber: first.blockNumber,
    blockHash: first.blockHash,
    rowIds: rows.map(({ id }) => id),
  }));
}

/** Reads the events from two independent providers where there are two. Returns the funds on which they differ. */
async function readAgreedEvents(
  chain: EvmChain,
  funds: Hex[],
  from: bigint,
  to: bigint,
): Promise<{ events: MinedFundEvent[]; disputed: Hex[] }> {
  const views = chain.rpc.providers().map((rpc) => ({ ...chain, rpc }));
  const [events = [], second = events] = await Promise.all(
    views.slice(0, 2).map((view) => readFundEvents(view, funds, from, to)),
  );
  const digest = (list: MinedFundEvent[], fund: Hex) =>
    list
      .filter((event) => event.fund === fund)
      .map(({ hash, blockHash, index, name, user, amount }) => [hash, blockHash, index, name, user, amount])
      .join();
  return { events, disputed: funds.filter((fund) => digest(events, fund) !== digest(second, fund)) };
}
