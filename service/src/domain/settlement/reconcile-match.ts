import type { Hex } from 'viem';
import { groupBy } from '../../kernel/group-by.ts';
import type { MinedFundEvent, MinedTransaction } from '../../platform/chain/evm/fund-events.ts';
import { hashOption } from '../../platform/chain/evm/sale-fund.ts';
import type { BookedRow, KnownTransaction } from './reconcile-store.ts';

type Kind = 'commit' | 'remit';

export type Match = {
  adopted: { transaction: MinedTransaction; kind: Kind; first: MinedFundEvent; rows: BookedRow[] }[];
  differences: Mismatch[];
  /** Events of transactions whose outcome the worker has not recorded yet. */
  inFlight: MinedFundEvent[];
};

/**
 * A difference between the chain and the database, with the rows and transactions that it affects. `offerId` is null if
 * the affected row is not known.
 */
export type Mismatch = {
  fund: Hex;
  offerId: string | null;
  participationIds: string[];
  hashes: Hex[];
  message: string;
};

type Books = {
  events: readonly MinedFundEvent[];
  known: readonly KnownTransaction[];
  /**
   * The rows of all wallets that occur in the events, and all rows with transactions in the compared blocks.
   * Oldest first.
   */
  rows: readonly BookedRow[];
  signers: readonly Hex[];
  transactions: ReadonlyMap<Hex, MinedTransaction>;
  /** The first and the last compared block. */
  from: bigint;
  to: bigint;
};

type FundEventKey = Pick<MinedFundEvent, 'fund' | 'user' | 'option' | 'token' | 'amount'>;

const UNCOMMITTED = new Set(['prepared', 'pending', 'failed', 'submitted']);
/** The statuses of rows whose commit is on the chain. */
const COMMITTED = new Set(['completed', 'remit_submitted', 'remitted', 'remit_failed']);
const REFUNDABLE = new Set(['completed', 'remit_submitted', 'remit_failed']);

/**
 * Matches the fund events on the chain with the rows in the database. A row matches at most one commit and one refund.
 * If the database does not know an event's transaction and several rows fit the event, the oldest row matches, unless it
 * matters which one does (see `standingOf`): then none matches. Events without a matching row and rows without an event
 * are reported as differences.
 */
export function matchEvents(books: Books): Match {
  const match: Match = { adopted: [], differences: [], inFlight: [] };
  const orphans: Orphan[] = [];
  const misrecorded = new Set<string>();
  const knownByHash = new Map(
    books.known.filter(({ state }) => state !== 'displaced').map((known) => [known.hash, known]),
  );
  // Groups the rows by fields that every fund event has. Leaves out the `commitment` id, because events of
  // first-generation funds lack it.
  const options = new Map(
    [...new Set(books.rows.map(({ optionId }) => optionId))].map((id) => [id, hashOption(id)]),
  );
  const rowKey = (row: BookedRow) =>
    keyOf({ ...row, option: options.get(row.optionId) ?? hashOption(row.optionId) });
  const rowsByKey = groupBy(books.rows, rowKey);
  const rowsByTransaction = groupBy(listRecorded(books.rows), ({ id, row }) => `${id} ${rowKey(row)}`);
  const taken = { commit: new Set<string>(), remit: new Set<string>() };
  const adoptedByHash = new Map<Hex, Match['adopted'][number]>();
  const adoptedCommits = new Set<string>();
  for (const event of books.events) {
    const kind: Kind = event.name === 'Committed' ? 'commit' : 'remit';
    const report = (message: string, participationIds: string[] = []) =>
      void match.differences.push({
        ...{ fund: event.fund, offerId: null, participationIds, hashes: [event.hash] },
        message: `${describeEvent(event)}: ${message}`,
      });
    const own = knownByHash.get(event.hash);
    // While our transaction is open, the worker has not recorded its outcome yet.
    if (own?.state === 'open') {
      match.inFlight.push(event);
      continue;
    }
    const isFree = (row: BookedRow) =>
      !taken[kind].has(row.id) && (event.commitment === null || event.commitment === row.commitment);
    if (own !== undefined) {
      const row = rowsByTransaction.get(`${own.id} ${keyOf(event)}`)?.find((each) => isFree(each.row))?.row;
      if (row === undefined || !isRecorded(row, kind))
        orphans.push({ event, kind, transactionId: own.id, problem: 'the transaction is ours, but' });
      else taken[kind].add(row.id);
      if (
        (own.minedHash !== event.hash || own.blockNumber !== event.blockNumber) &&
        !misrecorded.has(own.id)
      ) {
        misrecorded.add(own.id);
        report(`the database records another hash or block for transaction ${own.id}`);
      }
      continue;
    }
    const transaction = books.transactions.get(event.hash);
    const problem = findProblem(books, event, transaction);
    if (problem !== null || transaction === undefined) {
      report(problem ?? 'the transaction cannot be read');
      continue;
    }
    const candidates = (rowsByKey.get(keyOf(event)) ?? []).filter(
      (row) => isFree(row) && isCandidate(row, event, kind, transaction, adoptedCommits),
    );
    const [row] = candidates;
    if (row === undefined)
      orphans.push({
        ...{ event, kind, transactionId: null },
        problem: 'the database does not know the transaction, and',
      });
    else if (candidates.some((each) => standingOf(each) !== standingOf(row)))
      report(
        `the event fits several participations: ${candidates.map(describeRow).join(', ')}`,
        candidates.map(({ id }) => id),
      );
    else {
      taken[kind].add(row.id);
      if (kind === 'commit') adoptedCommits.add(row.id);
      const entry = adoptedByHash.get(event.hash) ?? { transaction, kind, first: event, rows: [] };
      entry.rows.push(row);
      adoptedByHash.set(event.hash, entry);
    }
  }
  const mismatches = findMismatches(books, orphans, taken, rowsByKey);
  return {
    ...match,
    adopted: [...adoptedByHash.values()],
    differences: [...match.differences, ...mismatches],
  };
}

/** Returns one entry for each transaction of each row. */
function listRecorded(rows: readonly BookedRow[]): { id: string; row: BookedRow }[] {
  return rows.flatMap((row) =>
    [row.commitId, row.remitId].flatMap((id) => (id === null ? [] : [{ id, row }])),
  );
}

/**
 * An event that no row records, in a transaction from one of our keys. `transactionId` is null if the database does not
 * know the transaction.
 */
type Orphan = { event: MinedFundEvent; kind: Kind; transactionId: string | null; problem: string };
type Taken = Record<Kind, ReadonlySet<string>>;
type Unproven = { row: BookedRow; kind: Kind };

/**
 * Returns the differences between the rows and the transactions of our keys. If an unmatched event and an unmatched row
 * belong to the same transaction or describe the same change, reports them as one difference.
 */
function findMismatches(
  books: Books,
  orphans: readonly Orphan[],
  taken: Taken,
  rowsByKey: ReadonlyMap<string, BookedRow[]>,
): Mismatch[] {
  const disputed = new Set(orphans.map(({ transactionId }) => transactionId));
  const rowsOf = groupBy(
    listRecorded(books.rows).filter(({ id }) => disputed.has(id)),
    ({ id }) => id,
  );
  const unproven = findUnproven(books, taken);
  const isUnproven = new Set(unproven.map(({ row, kind }) => `${kind} ${row.id}`));
  const named = new Set<string>();
  const ofOrphans = orphans.map(({ event, kind, transactionId, problem }): Mismatch => {
    const isFree = ({ id }: BookedRow) => !taken[kind].has(id) && !named.has(`${kind} ${id}`);
    const own = transactionId === null ? [] : (rowsOf.get(transactionId) ?? []);
    const equal = (rowsByKey.get(keyOf(event)) ?? []).filter(isFree);
    const forgotten = equal.filter(({ status }) => kind === 'remit' && REFUNDABLE.has(status));
    const candidates = [
      ...own.map((each) => each.row).filter(isFree),
      ...equal.filter(({ id }) => isUnproven.has(`${kind} ${id}`)),
      ...(forgotten.length === 1 ? forgotten : []),
    ];
    const row = candidates.find(({ user }) => user === event.user) ?? candidates[0];
    if (row !== undefined) named.add(`${kind} ${row.id}`).add(row.id);
    const text = `${describeEvent(event)}: ${problem}`;
    return {
      ...{ fund: event.fund, offerId: row?.offerId ?? null, hashes: [event.hash] },
      participationIds: row === undefined ? [] : [row.id],
      message:
        row === undefined
          ? `${text} no participation records this`
          : `${text} participation ${row.id} is ${row.status} with ${row.amount} of ${row.token} for ${row.user}`,
    };
  });
  const left = unproven.filter(({ row, kind }) => !named.has(`${kind} ${row.id}`));
  for (const { row } of left) named.add(row.id);
  return [
    ...ofOrphans,
    ...left.map(({ row, kind }) =>
      ofRow(row, `participation ${row.id} records a ${kind} that is not on the chain`),
    ),
    ...findInconsistent(books.rows.filter(({ id }) => !named.has(id))),
  ];
}

/** Returns a difference for every row whose status and recorded commit contradict each other. */
function findInconsistent(rows: readonly BookedRow[]): Mismatch[] {
  return rows
    .filter((row) => !row.isCommitOpen && COMMITTED.has(row.status) !== (row.committed === true))
    .map((row) =>
      ofRow(
        row,
        `participation ${row.id} is ${row.status}, but records ${row.committed === true ? 'a' : 'no'} commit`,
      ),
    );
}

function ofRow({ fund, offerId, id }: BookedRow, message: string): Mismatch {
  return { fund, offerId, participationIds: [id], hashes: [], message };
}

function describeEvent({ hash, name, amount, token, user }: MinedFundEvent): string {
  return `${hash} ${name} ${amount} of ${token} for ${user}`;
}

/**
 * Returns the recorded commits and refunds without an event on the chain. Leaves out commits and refunds in blocks that
 * were not compared.
 */
function findUnproven({ rows, from, to }: Books, taken: Taken): Unproven[] {
  const isCompared = (block: bigint | null) => block === null || (block >= from && block <= to);
  return rows.flatMap((row) => {
    const missing = (['commit', 'remit'] as const).filter(
      (kind) =>
        isRecorded(row, kind) &&
        isCompared(kind === 'commit' ? row.commitBlock : row.remitBlock) &&
        !taken[kind].has(row.id),
    );
    return missing.map((kind) => ({ row, kind }));
  });
}

function isRecorded(row: BookedRow, kind: Kind): boolean {
  return kind === 'commit' ? row.committed === true : row.status === 'remitted';
}

function keyOf({ fund, user, option, token, amount }: FundEventKey): string {
  return [fund, user, option, token, amount].join();
}

/**
 * Rows that fit the same event can stand for each other only if they belong to the same user, partner and offer, and if
 * the service would do the same with each of them next. Recording a lost commit for a cancelled row, for example, would
 * leave another row to be charged again.
 */
function standingOf({ userId, partnerId, offerId, status }: BookedRow): string {
  const isLive = UNCOMMITTED.has(status) && status !== 'failed';
  return [userId, partnerId, offerId, isLive ? 'live' : status].join();
}

function describeRow({ id, status }: BookedRow): string {
  return `${id} (${status})`;
}

function findProblem({ signers }: Books, event: MinedFundEvent, found?: MinedTransaction): string | null {
  if (found === undefined) return 'the transaction cannot be read';
  if (!signers.includes(found.from)) return `sent by ${found.from}, which is not an operator key`;
  return found.to === event.fund ? null : 'not a direct call to the fund';
}

/**
 * Returns whether a transaction may have committed or refunded the row. The transaction was sent with our key, but is
 * unknown to the database. If the row has an open transaction, both transactions must have the same nonce, because then
 * only one of them can be mined. A refund cannot be older than the commit.
 */
function isCandidate(
  row: BookedRow,
  { blockNumber }: MinedFundEvent,
  kind: Kind,
  { nonce }: MinedTransaction,
  adopted: Set<string>,
): boolean {
  if (kind === 'commit')
    return (
      row.committed !== true &&
      UNCOMMITTED.has(row.status) &&
      (!row.isCommitOpen || row.commitNonce === nonce)
    );
  const isCommitted =
    adopted.has(row.id) ||
    (row.committed === true && REFUNDABLE.has(row.status) && (row.commitBlock ?? 0n) <= blockNumber);
  return isCommitted && (!row.isRemitOpen || row.remitNonce === nonce);
}
