import { formatUnits } from 'viem/utils';
import type { Caller } from '../../kernel/access.ts';
import { type ChainName, chainFacts } from '../../kernel/chains.ts';
import { ApiError } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { type PageQuery, readPage } from '../../kernel/paging.ts';
import type { Chain } from '../../kernel/wire.ts';
import { showHash } from '../../platform/chain/address.ts';
import type { Context } from '../../platform/context/context.ts';
import { readFilters } from '../../platform/http/filters.ts';
import { readInclude } from '../../platform/http/include.ts';
import type { Query } from '../../platform/http/query-string.ts';
import type { Participation, ParticipationUser, Transactions } from '../holdings/participation.ts';
import { findParticipation, type ParticipationRow } from '../holdings/participation-store.ts';
import { listGrantedEmails } from '../oauth/grant-store.ts';
import { type IncludedRow, listIncluded, listParticipations } from './list-store.ts';
import { FILTERS, readSelection } from './selection.ts';

export async function readParticipation(
  ctx: Context,
  caller: Caller,
  id: string,
  query: Query,
): Promise<Participation> {
  const include = readParticipationInclude(caller, query);
  const row = isId(id) ? await findParticipation(ctx.db, caller, id) : null;
  if (row === null) throw new ApiError('not_found');
  const [shown] = await addIncluded(ctx, caller, include, [showParticipation(row)]);
  return shown ?? showParticipation(row);
}

export function showParticipation(row: ParticipationRow): Participation {
  return {
    object: 'participation',
    id: row.id,
    offer_id: row.offer_id,
    offer_option_id: row.offer_option_id,
    status: row.status,
    amount: row.amount,
    amount_string: formatUnits(BigInt(row.amount), row.asset_digits),
    asset: {
      id: row.asset_id,
      code: row.asset_code,
      name: row.asset_name,
      fractional_digits: row.asset_digits,
    },
    chain: row.chain as Chain,
    wallet_address: row.wallet_address,
    inserted_at: row.inserted_at,
    updated_at: row.updated_at,
  };
}

/** Lists the user's rows if the partner acts for one, otherwise those of all users. */
export async function readParticipations(ctx: Context, caller: Caller, query: PageQuery, raw: Query) {
  const include = readParticipationInclude(caller, raw);
  const filters = readFilters(raw, FILTERS);
  const selection = readSelection(caller, filters);
  const name = `participations ${caller.partnerId} ${caller.userId} ${JSON.stringify(filters)}`;
  const page = await readPage(ctx.sealing, name, query, (keyset) =>
    listParticipations(ctx.db, caller.partnerId, selection, keyset),
  );
  const data = await addIncluded(ctx, caller, include, page.data.map(showParticipation));
  return { ...page, data };
}

type Include = ReadonlySet<'transactions' | 'user'>;

/**
 * `user` is allowed only with a partner's own token: with a user token, all participations belong to that user
 * anyway.
 */
function readParticipationInclude({ userId }: Caller, query: Query): Include {
  return readInclude(query, userId === null ? ['transactions', 'user'] : ['transactions']);
}

async function addIncluded(
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
