import { sql } from 'kysely';
import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';

export type ReportedState = Database['reported_offers']['state'];

/** An offer whose current state has not been reported to the partner yet. */
export type UnreportedState = Pick<StoredOffer, 'id' | 'slug' | 'type' | 'starts_at' | 'ends_at'> & {
  partner_id: string;
  /** The last state reported to the partner; null if the offer has never been reported. */
  reported: ReportedState | null;
  actual: ReportedState;
};

/** Returns the states that have not been reported to the partners yet, for one offer or for all offers. */
export async function listUnreportedStates(
  db: Db,
  now: string,
  slug: string | null,
): Promise<UnreportedState[]> {
  const { rows } = await sql<UnreportedState>`
    select * from (
      select o.id, o.slug, o.type, o.starts_at, least(o.ends_at, o.closed_at) as ends_at, p.partner_id,
        r.state as reported, case when least(o.ends_at, o.closed_at) <= ${now}::timestamptz then 'ended'
          when o.starts_at is null or o.starts_at <= ${now}::timestamptz then 'started' else 'published' end as actual
      from offers o join offer_partners p on p.offer_id = o.id
        left join reported_offers r on r.offer_id = o.id and r.partner_id = p.partner_id
      where o.published_at is not null and (${slug}::text is null or o.slug = ${slug})
    ) as states where reported is distinct from actual order by id, partner_id`.execute(db);
  return rows;
}

/** Records that this state is reported to the partner. Returns false if another node has already reported it. */
export async function recordReportedState(
  tx: Db,
  { id, partner_id, reported, actual }: UnreportedState,
): Promise<boolean> {
  const { numAffectedRows } = await (reported === null
    ? sql`insert into reported_offers (offer_id, partner_id, state) values (${id}, ${partner_id}, ${actual})
        on conflict do nothing`
    : sql`update reported_offers set state = ${actual}
        where offer_id = ${id} and partner_id = ${partner_id} and state = ${reported}`
  ).execute(tx);
  return numAffectedRows === 1n;
}
