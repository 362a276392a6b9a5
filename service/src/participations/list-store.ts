import { CompiledQuery } from 'kysely';
import type { Db } from '../db/pool.ts';
import type { Keyset } from '../http/paging.ts';
import { STATUSES } from './schema.ts';
import { type Choice, isAsked, type Selection } from './selection.ts';
import { SHOWN, type ShownRow } from './store.ts';

const COLUMNS = SHOWN.map((name) => `p.${name}`).join(', ');

/** Rows that a statement may fetch: few numbers, so that there are few statements. Whoever asks takes what he needs. */
const PAGES = [21, 51, 101];

/**
 * One page, by one statement. Each combination of the values that were asked for is a range of one index, read in the
 * order of the list and no further than the page goes; the ranges are merged. So a page costs the same however long the
 * list is and however far down it lies. Only users to leave out are skipped row by row. May answer more than was asked for.
 * Null for the partner means all of them, each a range of its own.
 */
export async function listParticipations(
  db: Db,
  partnerId: string | null,
  selection: Selection,
  keyset: Keyset,
): Promise<ShownRow[]> {
  if (Object.values(selection).some(({ only }) => only?.length === 0)) return [];
  const { rows } = await db.executeQuery<ShownRow>(pageQuery(partnerId, selection, keyset));
  return rows;
}

/**
 * Written as text: this is the hottest query, and building it from parts costs as much as running it. The number of rows
 * stands in it, because the server plans a statement anew every time when it does not know how little is wanted.
 */
function pageQuery(
  partnerId: string | null,
  selection: Selection,
  { direction, position, limit }: Keyset,
): CompiledQuery<ShownRow> {
  const draft = newDraft(partnerId);
  narrowUsers(draft, selection);
  narrowOffers(draft, selection);
  const { conditions, sources, values, place } = draft;
  if (position !== null) {
    const beyond = `(${place(position.inserted_at, 'timestamptz')}, ${place(position.id, 'uuid')})`;
    conditions.push(`(p.inserted_at, p.id) ${direction === 'older' ? '<' : '>'} ${beyond}`);
  }
  const order = direction === 'older' ? 'desc' : 'asc';
  const most = PAGES.find((size) => size >= limit) ?? limit;
  const end = `order by p.inserted_at ${order}, p.id ${order} limit ${most}`;
  const page = `select ${COLUMNS} from participations p where ${conditions.join(' and ')} ${end}`;
  const text =
    sources.length === 0
      ? page
      : `select ${COLUMNS} from ${sources.join(' cross join ')} cross join lateral (${page}) p ${end}`;
  return CompiledQuery.raw(text, values) as CompiledQuery<ShownRow>;
}

/** A statement in the making. */
type Draft = {
  values: unknown[];
  place(value: unknown, type: string): string;
  /** Of `participations p`. */
  conditions: string[];
  /** Tables whose rows are the ranges. */
  sources: string[];
  partner: string;
};

type Column = 'user_id' | 'offer_id' | 'offer_option_id' | 'status';

function newDraft(partnerId: string | null): Draft {
  const values: unknown[] = [];
  const place = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
  const partner = partnerId === null ? 'partners.id' : place(partnerId, 'uuid');
  const sources = partnerId === null ? ['partners'] : [];
  return { values, place, partner, conditions: [`p.partner_id = ${partner}`], sources };
}

/** Hidden from the planner, a list looks the same each time, so that its plan is kept. */
const hide = (list: string) => `(select ${list})`;

function narrowTo({ conditions, sources, place }: Draft, column: Column, wanted: readonly string[]): void {
  const type = column === 'status' ? 'text' : 'uuid';
  if (wanted.length === 1) {
    conditions.push(`p.${column} = ${place(wanted[0], type)}`);
    return;
  }
  sources.push(`unnest(${hide(place(wanted, `${type}[]`))}) as ${column}s (value)`);
  conditions.push(`p.${column} = ${column}s.value`);
}

function narrowToFound({ conditions, sources }: Draft, column: Column, query: string): void {
  sources.push(`(${query}) as ${column}s (value)`);
  conditions.push(`p.${column} = ${column}s.value`);
}

function narrowUsers(draft: Draft, { users, emails }: Selection): void {
  const { conditions, place } = draft;
  if (users.not.length > 0) conditions.push(`p.user_id <> all(${place(users.not, 'uuid[]')})`);
  if (emails.not.length > 0) conditions.push(`p.user_id <> all(array(${usersBy(draft, emails.not)}))`);
  if (emails.only === null) {
    if (users.only !== null) narrowTo(draft, 'user_id', users.only);
    return;
  }
  const found = usersBy(draft, emails.only);
  const both = users.only === null ? found : `${found} and id = any(${place(users.only, 'uuid[]')})`;
  if (emails.only.length === 1) conditions.push(`p.user_id = (${both})`);
  else narrowToFound(draft, 'user_id', both);
}

function usersBy({ place }: Draft, emails: string[]): string {
  return emails.length === 1
    ? `select id from users where lower(email) = ${place(emails[0], 'text')}`
    : `select id from users where lower(email) = any(${hide(place(emails, 'text[]'))}::text[])`;
}

/** The indexes by offer and by option go on with the status. An option belongs to one offer, so it stands for it. */
function narrowOffers(draft: Draft, { offers, options, statuses }: Selection): void {
  if (isAsked(options)) narrowOptions(draft, options, offers);
  else if (offers.only !== null) narrowTo(draft, 'offer_id', offers.only);
  else if (isAsked(offers)) narrowToFound(draft, 'offer_id', present(draft, 'offer_id', offers.not));
  else if (!isAsked(statuses)) return;
  narrowTo(draft, 'status', statuses.only ?? STATUSES.filter((status) => !statuses.not.includes(status)));
}

/** Of the wanted options, those whose offer is wanted too. */
function narrowOptions(draft: Draft, options: Choice, offers: Choice): void {
  const { place } = draft;
  if (!isAsked(offers)) {
    if (options.only !== null) narrowTo(draft, 'offer_option_id', options.only);
    else narrowToFound(draft, 'offer_option_id', present(draft, 'offer_option_id', options.not));
    return;
  }
  const wanted =
    options.only === null
      ? present(draft, 'offer_option_id', options.not)
      : `select unnest(${place(options.only, 'uuid[]')})`;
  const isWanted =
    offers.only === null
      ? `offer_id <> all(${place(offers.not, 'uuid[]')})`
      : `offer_id = any(${place(offers.only, 'uuid[]')})`;
  const query = `select id from offer_options where id in (${wanted}) and ${isWanted}`;
  narrowToFound(draft, 'offer_option_id', query);
}

/** The values that the partner's rows have, found by leaps through the index. */
function present({ place, partner }: Draft, column: 'offer_id' | 'offer_option_id', not: string[]): string {
  const next = (beyond: string) =>
    `select q.${column} from participations q where q.partner_id = ${partner} ${beyond} order by q.${column} limit 1`;
  return `with recursive present (value) as ((${next('')}) union all
    select (${next(`and q.${column} > present.value`)}) from present where present.value is not null)
    select value from present where value is not null and value <> all(${place(not, 'uuid[]')})`;
}
