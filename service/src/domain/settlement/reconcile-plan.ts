import type { Hex } from 'viem';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import {
  type MinedFundEvent,
  type MinedTransaction,
  readFundEvents,
  readTransactions,
} from '../../platform/chain/evm/fund-events.ts';
import { readBlocks, readFinality } from '../../platform/chain/evm/node-reads.ts';
import type { Db } from '../../platform/db/pool.ts';
import { type Match, type Mismatch, matchEvents } from './reconcile-match.ts';
import {
  type BookedTotals,
  type FundOffers,
  findBlocks,
  listBooked,
  listBookedTotals,
  listFunds,
  listKnown,
  listSigners,
} from './reconcile-store.ts';

/** One of our transactions that the database does not know, and the participations that it settled. */
export type LostTransaction = MinedTransaction & {
  to: Hex;
  kind: 'commit' | 'remit';
  blockNumber: bigint;
  blockHash: Hex;
  rowIds: string[];
};

/** A difference between the chain and the database. `offerIds` are the offers that are paused because of it. */
export type Difference = Omit<Mismatch, 'offerId'> & { offerIds: string[] };

export type ReconcilePlan = {
  chain: string;
  fromBlock: bigint;
  toBlock: bigint;
  events: number;
  lost: LostTransaction[];
  differences: Difference[];
  inFlight: MinedFundEvent[];
  booked: BookedTotals[];
  funds: FundOffers[];
};

/** The comparison starts this many blocks before our last known transaction or, with `first`, before our first one. */
const OVERLAP_BLOCKS = 256n;
/** How many blocks are compared if the database has no mined transactions. */
const DEFAULT_BLOCKS = 50_000n;

/**
 * Compares the participations in the database with the events of every fund on the chain, in final blocks only. Plans
 * which transactions to adopt, but changes nothing. A transaction is adopted only if one of our own keys sent it, and
 * only for existing participations that no other transaction has settled.
 *
 * By default, the comparison starts shortly before our last transaction. With `first`, it starts shortly before our
 * first transaction rather than at block 0, because reading a whole public chain would take hours.
 */
export async function planReconcile(
  db: Db,
  chain: EvmChain,
  fromBlock?: bigint | 'first',
): Promise<ReconcilePlan> {
  const [head] = await readBlocks(chain, ['latest']);
  const { final: toBlock } = await readFinality(chain, head);
  const known = await findBlocks(db, chain.name);
  const start = fromBlock === 'first' ? known?.first : known?.last;
  const earliest = start === undefined ? toBlock - DEFAULT_BLOCKS : start - OVERLAP_BLOCKS;
  const from = typeof fromBlock === 'bigint' ? fromBlock : earliest > 0n ? earliest : 0n;
  const funds = await listFunds(db, chain.name);
  const offersOf = new Map(funds.map(({ fund, offerIds }) => [fund, offerIds]));
  const addresses = funds.map(({ fund }) => fund);
  const { events, disputed } = await readAgreedEvents(chain, addresses, from, toBlock);
  const hashes = [...new Set(events.map(({ hash }) => hash))];
  const range = { from, to: toBlock };
  const wallets = fromBlock === 'first' || from === 0n ? null : [...new Set(events.map(({ user }) => user))];
  // Reads from one snapshot, because the worker may record the outcome of a transaction between two reads.
  const books = await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => ({
      known: await listKnown(tx, chain.name, hashes),
      rows: await listBooked(tx, chain.name, wallets, range),
      signers: await listSigners(tx, chain.name),
      booked: await listBookedTotals(tx, chain.name, toBlock),
    }));
  // Displaced transactions were abandoned, so they do not count as booked. If an attempt of a displaced transaction was
  // mined after all, that attempt counts as a lost transaction.
  const isBooked = new Set(books.known.flatMap(({ hash, state }) => (state === 'displaced' ? [] : [hash])));
  const transactions = await readTransactions(
    chain,
    hashes.filter((hash) => !isBooked.has(hash)),
  );
  const match = matchEvents({
    ...{ events, ...range, ...books },
    transactions: new Map(transactions.flatMap((each) => (each === null ? [] : [[each.hash, each]]))),
  });
  return {
    chain: chain.name,
    fromBlock: from,
    toBlock,
    events: events.length,
    lost: disputed.length > 0 ? [] : toLost(match),
    ...{ inFlight: match.inFlight, booked: books.booked, funds },
    differences: [
      ...disputed.map((fund) => ({
        ...{ fund, offerId: null, participationIds: [], hashes: [] },
        message: 'two RPC providers report different events',
      })),
      ...match.differences,
    ].map(({ offerId, ...difference }) => ({
      ...difference,
      offerIds: offerId === null ? (offersOf.get(difference.fund) ?? []) : [offerId],
    })),
  };
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

/**
 * Reads the events from two independent providers, if two are configured. `disputed` lists the funds for which the two
 * providers report different events.
 */
async function readAgreedEvents(
  chain: EvmChain,
  funds: Hex[],
  from: bigint,
  to: bigint,
): Promise<{ events: MinedFundEvent[]; disputed: Hex[] }> {
  const views = chain.rpc.providers().map((rpc) => ({ ...chain, rpc }));
  const [events = [], second] = await Promise.all(
    views.slice(0, 2).map(async (view) => {
      // Throws if the provider does not have the last block. A lagging provider would return too few events without an
      // error.
      if (to >= 0n) await readBlocks(view, [to]);
      return readFundEvents(view, funds, from, to);
    }),
  );
  if (second === undefined) return { events, disputed: [] };
  const [ours, theirs] = [digestByFund(events), digestByFund(second)];
  return { events, disputed: funds.filter((fund) => ours.get(fund)?.join() !== theirs.get(fund)?.join()) };
}

function digestByFund(events: readonly MinedFundEvent[]): Map<Hex, string[]> {
  const digests = new Map<Hex, string[]>();
  for (const { fund, hash, blockHash, index, name, user, amount } of events) {
    const list = digests.get(fund) ?? [];
    digests.set(fund, list);
    list.push([hash, blockHash, index, name, user, amount].join());
  }
  return digests;
}
