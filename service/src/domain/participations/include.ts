import type { Caller } from '../../kernel/access.ts';
import { type ChainName, chainFacts } from '../../kernel/chains.ts';
import { showHash } from '../../platform/chain/address.ts';
import type { Context } from '../../platform/context/context.ts';
import { readInclude } from '../../platform/http/include.ts';
import type { Query } from '../../platform/http/query-string.ts';
import type { Participation, ParticipationUser, Transactions } from '../holdings/participation.ts';
import { listGrantedEmails } from '../oauth/grant-store.ts';
import { type IncludedRow, listIncluded } from './include-store.ts';

export type Include = ReadonlySet<'transactions' | 'user'>;

/**
 * Parses the `include` parameter. `user` is allowed only with a partner's own token: with a user token, all
 * participations belong to that user anyway.
 */
export function readParticipationInclude({ userId }: Caller, query: Query): Include {
  return readInclude(query, userId === null ? ['transactions', 'user'] : ['transactions']);
}

/** Adds the requested `include` members to participations that the caller may see. */
export async function addIncluded(
  ctx: Context,
  { partnerId }: Caller,
  include: Include,
  shown: readonly Participation[],
): Promise<Participation[]> {
  if (include.size === 0 || shown.length === 0) return [...shown];
  const rows = new Map(
    (
      await listIncluded(
        ctx.db,
        shown.map(({ id }) => id),
      )
    ).map((row) => [row.id, row] as const),
  );
  const userIds = [...new Set([...rows.values()].map(({ user_id }) => user_id))];
  const emails = include.has('user') ? await listGrantedEmails(ctx.db, partnerId, userIds) : new Map();
  return shown.map((participation) => {
    const row = rows.get(participation.id);
    if (row === undefined) return participation;
    const user: ParticipationUser = { id: row.user_id, email: emails.get(row.user_id) ?? null };
    return {
      ...participation,
      ...(include.has('transactions') && { transactions: describeTransactions(row) }),
      ...(include.has('user') && { user }),
    };
  });
}

function describeTransactions({ chain, approval_hash, commit_hash, remit_hash }: IncludedRow): Transactions {
  const [approval, commit, remit] = [approval_hash, commit_hash, remit_hash].map(
    (hash) => hash && showHash(hash),
  );
  const link = (hash: string | null | undefined) => (hash ? explorerUrl(chain as ChainName, hash) : null);
  return {
    approval_hash: approval ?? '',
    commit_hash: commit ?? null,
    remit_hash: remit ?? null,
    explorer_urls: { approval: link(approval) ?? '', commit: link(commit), remit: link(remit) },
  };
}

function explorerUrl(chain: ChainName, hash: string): string {
  const url = new URL(chainFacts(chain).explorer);
  url.pathname = `/tx/${hash}`;
  return url.href;
}
