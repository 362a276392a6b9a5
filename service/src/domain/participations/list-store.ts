import { CompiledQuery, sql } from 'kysely';
import type { Keyset } from '../../kernel/paging.ts';
import type { Db } from '../../platform/db/pool.ts';
import { STATUSES } from '../holdings/participation.ts';
import { API_COLUMNS, type ParticipationRow } from '../holdings/participation-store.ts';
import { type Choice, isRestricted, type Selection } from './selection.ts';

const COLUMNS = API_COLUMNS.map((name) => `p.${name}`).join(', ');

/**
 * A requested limit is rounded up, so that only a few statements have to be prepared. Callers cut off the extra rows.
 */
const STATEMENT_LIMITS = [21, 51, 101];

/**
 * May return more rows than the limit. Each combination of filter values is one index range (one per partner if
 * `partnerId` is null). Reads at most one page from each range and merges them, so the cost depends neither on how
 * long the list is nor on where the page is. Only a filter that excludes users reads their rows too, and skips them.
 */
export async function listParticipations(
  db: Db,
  partnerId: string | null,
  selection: Selection,
  keyset: Keyset,
): Promise<ParticipationRow[]> {
  if (Object.values(selection).some(({ only }) => only?.length === 0)) return [];
  const { rows } = await db.executeQuery<ParticipationRow>(pageQuery(partnerId, selection, keyset));
  return rows;
}

/**
 * As text, because the query builder would take as long to compose this hottest query as PostgreSQL takes to run it.
 * The limit is a literal: with a parameter, PostgreSQL would plan the statement again on every execution.
 */
function pageQuery(
  partnerId: string | null,
  selection: Selection,
  { direction, position, limit }: Keyset,
): CompiledQuery<ParticipationRow> {
  const draft = newDraft(partnerId);
  narrowUsers(draft, selection);
  narrowOffers(draft, selection);
  const { conditions, sources, values, bind } = draft;
  if (position !== null) {
    const beyond = `(${bind(position.inserted_at, 'timestamptz')}, ${bind(position.id, 'uuid')})`;
    conditions.push(`(p.inserted_at, p.id) ${direction === 'older' ? '<' : '>'} ${beyond}`);
  }
  const order = direction === 'older' ? 'desc' : 'asc';
  const rowLimit = STATEMENT_LIMITS.find((size) => size >= limit) ?? limit;
  const end = `order by p.inserted_at ${order}, p.id ${order} limit ${rowLimit}`;
  const page = `select ${COLUMNS} from participations p where ${conditions.join(' and ')} ${end}`;
  const text =
    sources.length === 0
      ? page
      : `select ${COLUMNS} from ${sources.join(' cross join ')} cross join lateral (${page}) p ${end}`;
  return CompiledQuery.raw(text, values) as CompiledQuery<ParticipationRow>;
}

/** A statement under construction. */
type Draft = {
  values: unknown[];
  bind(value: unknown, type: string): string;
  /** Conditions on `participations p`. */
  conditions: string[];
  /** SQL table expressions. Their cross join has one row per index range. */
  sources: string[];
  partner: string;
};

type Column = 'user_id' | 'offer_id' | 'offer_option_id' | 'status';

function newDraft(partnerId: string | null): Draft {
  const values: unknown[] = [];
  const bind = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
  const partner = partnerId === null ? 'partners.id' : bind(partnerId, 'uuid');
  const sources = partnerId === null ? ['partners'] : [];
  return { values, bind, partner, conditions: [`p.partner_id = ${partner}`], sources };
}

/** Hides the length of a list from the planner, so that the planner keeps using the generic plan. */
const hideLength = (list: string) => `(select ${list})`;

function narrowTo({ conditions, sources, bind }: Draft, column: Column, wanted: readonly string[]): void {
  const type = column === 'status' ? 'text' : 'uuid';
  if (wanted.length === 1) {
    conditions.push(`p.${column} = ${bind(wanted[0], type)}`);
    return;
  }
  sources.push(`unnest(${hideLength(bind(wanted, `${type}[]`))}) as ${column}s (value)`);
  conditions.push(`p.${column} = ${column}s.value`);
}

function narrowToQuery({ conditions, sources }: Draft, column: Column, query: string): void {
  sources.push(`(${query}) as ${column}s (value)`);
  conditions.push(`p.${column} = ${column}s.value`);
}

function narrowUsers(draft: Draft, { users, emails }: Selection): void {
  const { conditions, bind } = draft;
  if (users.not.length > 0) conditions.push(`p.user_id <> all(${bind(users.not, 'uuid[]')})`);
  if (emails.not.length > 0) conditions.push(`p.user_id <> all(array(${usersByEmail(draft, emails.not)}))`);
  if (emails.only === null) {
    if (users.only !== null) narrowTo(draft, 'user_id', users.only);
    return;
  }
  const matching = usersByEmail(draft, emails.only);
  const both = users.only === null ? matching : `${matching} and id = any(${bind(users.only, 'uuid[]')})`;
  if (emails.only.length === 1) conditions.push(`p.user_id = (${both})`);
  else narrowToQuery(draft, 'user_id', both);
}

/** For a partner, only users who granted it the `email` scope, so that a filter cannot reveal an address. */
function usersByEmail({ bind, partner, sources }: Draft, emails: string[]): string {
  const matching =
    emails.length === 1
      ? `lower(email collate "C") = ${bind(emails[0], 'text')}`
      : `lower(email collate "C") = any(${hideLength(bind(emails, 'text[]'))}::text[])`;
  if (sources.includes('partners')) return `select id from users where ${matching}`;
  return `select id from users where ${matching} and has_granted(users.id, ${partner}, 'email')`;
}

/**
 * By option if options are selected, otherwise by offer: an option belongs to one offer. The index on either column
 * continues with the status, so the statement must list the statuses too.
 */
function narrowOffers(draft: Draft, { offers, options, statuses }: Selection): void {
  if (isRestricted(options)) narrowOptions(draft, options, offers);
  else if (offers.only !== null) narrowTo(draft, 'offer_id', offers.only);
  else if (isRestricted(offers))
    narrowToQuery(draft, 'offer_id', distinctValues(draft, 'offer_id', offers.not));
  else if (!isRestricted(statuses)) return;
  narrowTo(draft, 'status', statuses.only ?? STATUSES.filter((status) => !statuses.not.includes(status)));
}

/** Restricts the list to the selected options. If offers are selected too, keeps only the options of these offers. */
function narrowOptions(draft: Draft, options: Choice, offers: Choice): void {
  const { bind } = draft;
  if (!isRestricted(offers)) {
    if (options.only !== null) narrowTo(draft, 'offer_option_id', options.only);
    else narrowToQuery(draft, 'offer_option_id', distinctValues(draft, 'offer_option_id', options.not));
    return;
  }
  const wanted =
    options.only === null
      ? distinctValues(draft, 'offer_option_id', options.not)
      : `select unnest(${bind(options.only, 'uuid[]')})`;
  const isWanted =
    offers.only === null
      ? `offer_id <> all(${bind(offers.not, 'uuid[]')})`
      : `offer_id = any(${bind(offers.only, 'uuid[]')})`;
  const query = `select id from offer_options where id in (${wanted}) and ${isWanted}`;
  narrowToQuery(draft, 'offer_option_id', query);
}

/** Uses a loose index scan to select the column's distinct values in the partner's rows, except those in `not`. */
function distinctValues(
  { bind, partner }: Draft,
  column: 'offer_id' | 'offer_option_id',
  not: string[],
): string {
  const next = (beyond: string) =>
    `select q.${column} from participations q where q.partner_id = ${partner} ${beyond} order by q.${column} limit 1`;
  return `with recursive present (value) as ((${next('')}) union all
    select (${next(`and q.${column} > present.value`)}) from present where present.value is not null)
    select value from present where value is not null and value <> all(${bind(not, 'uuid[]')})`;
}

export type IncludedRow = {
  id: string;
  user_id: string;
  chain: string;
  approval_hash: Buffer;
  commit_hash: Buffer | null;
  remit_hash: Buffer | null;
};

/** A transaction that is not mined yet has the hash of its latest attempt. */
export const TRANSACTION_HASHES = sql`${hashOf('p.commit_id')} as commit_hash, ${hashOf('p.remit_id')} as remit_hash`;

function hashOf(id: 'p.commit_id' | 'p.remit_id') {
  return sql`(select coalesce(t.mined_hash, (select a.hash from operator_attempts a where a.transaction_id = t.id
    order by a.inserted_at desc limit 1)) from operator_transactions t where t.id = ${sql.ref(id)})`;
}

export async function listIncluded(db: Db, ids: readonly string[]): Promise<IncludedRow[]> {
  const { rows } = await sql<IncludedRow>`
    select p.id, p.user_id, p.chain, p.approval_hash, ${TRANSACTION_HASHES}
    from participations p where p.id = any(${ids}::uuid[])`.execute(db);
  return rows;
}
