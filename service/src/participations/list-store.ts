import { CompiledQuery, sql } from 'kysely';
import type { Db } from '../db/pool.ts';
import type { Keyset } from '../http/paging.ts';
import { STATUSES } from './schema.ts';
import type { Choice, Selection } from './selection.ts';
import { SHOWN, type ShownRow } from './store.ts';

export async function findUsersByEmail(db: Db, emails: readonly string[]): Promise<Map<string, string>> {
  if (emails.length === 0) return new Map();
  const { rows } = await sql<{ id: string; email: string }>`
    select id, lower(email) as email from users where lower(email) = any(${emails}::text[])`.execute(db);
  return new Map(rows.map(({ id, email }) => [email, id]));
}

const COLUMNS = SHOWN.map((name) => `p.${name}`).join(', ');

/**
 * One page. Each combination of the values that were asked for is a range of one index, read in the order of the list
 * and no further than the page goes; the ranges are merged. So a page costs the same however long the list is and
 * however far down it lies. Only users to leave out are skipped row by row.
 */
export async function listParticipations(
  db: Db,
  partnerId: string,
  selection: Selection,
  keyset: Keyset,
): Promise<ShownRow[]> {
  const ranges = await chooseRanges(db, partnerId, selection);
  if (ranges.some(({ values }) => values.length === 0)) return [];
  const { rows } = await db.executeQuery<ShownRow>(pageQuery(partnerId, selection.users.not, ranges, keyset));
  return rows;
}

/** Written as text: this is the hottest query, and building it from parts costs as much as running it. */
function pageQuery(
  partnerId: string,
  notUsers: string[],
  ranges: Range[],
  keyset: Keyset,
): CompiledQuery<ShownRow> {
  const { direction, position, limit } = keyset;
  const values: unknown[] = [];
  const place = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
  const conditions = [`p.partner_id = ${place(partnerId, 'uuid')}`];
  for (const { column } of ranges) conditions.push(`p.${column} = ${column}s.value`);
  if (notUsers.length > 0) conditions.push(`p.user_id <> all(${place(notUsers, 'uuid[]')})`);
  if (position !== null) {
    const beyond = `(${place(position.inserted_at, 'timestamptz')}, ${place(position.id, 'uuid')})`;
    conditions.push(`(p.inserted_at, p.id) ${direction === 'older' ? '<' : '>'} ${beyond}`);
  }
  const order = direction === 'older' ? 'desc' : 'asc';
  const end = `order by p.inserted_at ${order}, p.id ${order} limit ${place(limit, 'integer')}`;
  const page = `select ${COLUMNS} from participations p where ${conditions.join(' and ')} ${end}`;
  if (ranges.length === 0) return CompiledQuery.raw(page, values) as CompiledQuery<ShownRow>;
  const tables = ranges.map(
    (range) => `unnest(${place(range.values, `${range.type}[]`)}) as ${range.column}s (value)`,
  );
  const merged = `select ${COLUMNS} from ${tables.join(' cross join ')} cross join lateral (${page}) p ${end}`;
  return CompiledQuery.raw(merged, values) as CompiledQuery<ShownRow>;
}

type Range = {
  column: 'user_id' | 'offer_id' | 'offer_option_id' | 'status';
  type: 'uuid' | 'text';
  values: string[];
};

/** The equal values that an index begins with. An option belongs to one offer, so it stands for it. */
async function chooseRanges(
  db: Db,
  partnerId: string,
  { users, offers, options, statuses }: Selection,
): Promise<Range[]> {
  const ranges: Range[] = [];
  if (users.only !== null) ranges.push({ column: 'user_id', type: 'uuid', values: users.only });
  if (isAsked(options)) {
    const values = await listOptions(db, partnerId, options, offers);
    ranges.push({ column: 'offer_option_id', type: 'uuid', values });
  } else if (isAsked(offers)) {
    const values = offers.only ?? (await listPresent(db, partnerId, 'offer_id', offers.not));
    ranges.push({ column: 'offer_id', type: 'uuid', values });
  }
  const hasOffer = isAsked(options) || isAsked(offers);
  if (isAsked(statuses) || hasOffer) {
    const values = statuses.only ?? STATUSES.filter((status) => !statuses.not.includes(status));
    ranges.push({ column: 'status', type: 'text', values: [...values] });
  }
  return ranges;
}

function isAsked({ only, not }: Choice): boolean {
  return only !== null || not.length > 0;
}

/** Of the wanted options, those whose offer is wanted too. */
async function listOptions(db: Db, partnerId: string, options: Choice, offers: Choice): Promise<string[]> {
  const wanted = options.only ?? (await listPresent(db, partnerId, 'offer_option_id', options.not));
  if (!isAsked(offers)) return wanted;
  const { rows } = await sql<{ id: string }>`
    select id from offer_options where id = any(${wanted}::uuid[])
      and (${offers.only}::uuid[] is null or offer_id = any(${offers.only}::uuid[])) and offer_id <> all(${offers.not}::uuid[])`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** The values that the partner's rows have, found by leaps through the index. */
async function listPresent(
  db: Db,
  partnerId: string,
  column: 'offer_id' | 'offer_option_id',
  not: string[],
): Promise<string[]> {
  const name = sql.ref(column);
  const { rows } = await sql<{ value: string }>`
    with recursive present (value) as (
      (select ${name} from participations where partner_id = ${partnerId} order by ${name} limit 1)
      union all
      select (select p.${name} from participations p where p.partner_id = ${partnerId} and p.${name} > present.value
        order by p.${name} limit 1) from present where present.value is not null)
    select value from present where value is not null and value <> all(${not}::uuid[])`.execute(db);
  return rows.map(({ value }) => value);
}
