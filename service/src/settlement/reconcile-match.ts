import type { Hex } from 'viem';
import type { MinedFundEvent, MinedTransaction } from '../chain/evm/fund-events.ts';
import { hashOption } from '../chain/evm/sale-fund.ts';
import type { BookedRow, KnownTransaction } from './reconcile-store.ts';

type Kind = 'commit' | 'remit';

export type Match = {
  adopted: { transaction: MinedTransaction; kind: Kind; first: MinedFundEvent; rows: BookedRow[] }[];
  differences: { fund: Hex; message: string }[];
};

type Books = {
  events: readonly MinedFundEvent[];
  known: readonly KnownTransaction[];
  /** The rows of every wallet in the events, oldest first. */
  rows: readonly BookedRow[];
  signers: readonly Hex[];
  transactions: ReadonlyMap<Hex, MinedTransaction>;
};

const UNCOMMITTED = new Set(['prepared', 'pending', 'failed', 'submitted']);
const REFUNDABLE = new Set(['completed', 'remit_submitted', 'remit_failed']);

/** Finds the row of every event. Rows are used once, oldest first, and never invented. */
export function matchEvents(books: Books): Match {
  const match: Match = { adopted: [], differences: [] };
  const taken = { commit: new Set<string>(), remit: new Set<string>() };
  const adoptedCommits = new Set<string>();
  for (const event of books.events) {
    const kind: Kind = event.name === 'Committed' ? 'commit' : 'remit';
    const report = (message: string) =>
      void match.differences.push({
        fund: event.fund,
        message: `${event.hash} ${event.name} ${event.amount} of ${event.token} for ${event.user}: ${message}`,
      });
    const own = books.known.find(({ hash, state }) => hash === event.hash && state !== 'displaced');
    // The worker has not recorded the outcome of an open transaction yet.
    if (own?.state === 'open') continue;
    const equal = books.rows.filter((row) => isEqual(row, event) && !taken[kind].has(row.id));
    if (own !== undefined) {
      const row = equal.find((each) => (kind === 'commit' ? each.commitId : each.remitId) === own.id);
      const isRecorded = kind === 'commit' ? row?.committed === true : row?.status === 'remitted';
      if (row === undefined || !isRecorded) report('the transaction is ours, but no row records this');
      else taken[kind].add(row.id);
      continue;
    }
    const transaction = books.transactions.get(event.hash);
    const problem = findProblem(books, event, transaction);
    if (problem !== null || transaction === undefined) {
      report(problem ?? 'the transaction cannot be read');
      continue;
    }
    const candidates = equal.filter((row) => isCandidate(row, kind, transaction, adoptedCommits));
    const [row] = candidates;
    if (row === undefined) report('no participation without a commit or refund of its own fits');
    else if (candidates.some(({ userId }) => userId !== row.userId))
      report('participations of several users fit');
    else {
      taken[kind].add(row.id);
      if (kind === 'commit') adoptedCommits.add(row.id);
      const entry = match.adopted.find((each) => each.transaction === transaction);
      if (entry === undefined) match.adopted.push({ transaction, kind, first: event, rows: [row] });
      else entry.rows.push(row);
    }
  }
  return match;
}

/** Compares everything that the event says with the row, the id of the commitment included if the fund has ids. */
function isEqual(row: BookedRow, event: MinedFundEvent): boolean {
  if (event.commitment !== null && event.commitment !== row.commitment) return false;
  return (
    row.fund === event.fund &&
    row.user === event.user &&
    row.token === event.token &&
    row.amount === event.amount &&
    hashOption(row.optionId) === event.option
  );
}

function findProblem({ signers }: Books, event: MinedFundEvent, found?: MinedTransaction): string | null {
  if (found === undefined) return 'the transaction cannot be read';
  if (!signers.includes(found.from)) return `sent by ${found.from}, which is not an operator key`;
  return found.to === event.fund ? null : 'not a direct call of the fund';
}

/** A row with another transaction that may still be mined is no candidate, unless the lost one took its nonce. */
function isCandidate(row: BookedRow, kind: Kind, { nonce }: MinedTransaction, adopted: Set<string>): boolean {
  if (kind === 'commit')
    return (
      row.committed !== true &&
      UNCOMMITTED.has(row.status) &&
      (!row.isCommitOpen || row.commitNonce === nonce)
    );
  const isCommitted = adopted.has(row.id) || (row.committed === true && REFUNDABLE.has(row.status));
  return isCommitted && (!row.isRemitOpen || row.remitNonce === nonce);
}
