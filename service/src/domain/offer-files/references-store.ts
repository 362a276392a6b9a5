import { sql } from 'kysely';
import type { AcknowledgementDetails } from '../../kernel/model/requirement.ts';
import type { Db } from '../../platform/db/pool.ts';

/**
 * The tables with rows that reference the offer or one of its options, and for each option those that reference it.
 */
export type OfferReferences = { offer: Set<string>; options: Map<string, Set<string>> };

export type DocumentText = Pick<AcknowledgementDetails, 'document' | 'version' | 'sha256' | 'url'>;

type Reference = { table: string; column: string; target: 'offers' | 'offer_options' };

/**
 * Reads the foreign keys from the schema, so that new tables are covered. Leaves out the tables of the offer itself.
 */
export async function findReferences(
  db: Db,
  offerId: string,
  optionIds: readonly string[],
): Promise<OfferReferences> {
  const references: OfferReferences = {
    offer: new Set(),
    options: new Map(optionIds.map((id) => [id, new Set()])),
  };
  for (const { table, column, target } of await listReferences(db)) {
    const ids = target === 'offers' ? [offerId] : optionIds;
    const { rows } = await sql<{ id: string }>`
      select distinct ${sql.ref(column)} as id from ${sql.raw(table)} where ${sql.ref(column)} = any(${ids}::uuid[])`.execute(
      db,
    );
    for (const { id } of rows) {
      references.offer.add(table);
      references.options.get(id)?.add(table);
    }
  }
  return references;
}

async function listReferences(db: Db): Promise<Reference[]> {
  const { rows } = await sql<Reference>`
    select c.conrelid::regclass::text as table, a.attname as column, c.confrelid::regclass::text as target
    from pg_constraint c
    cross join unnest(c.conkey, c.confkey) as pair(own, theirs)
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = pair.own
    join pg_attribute b on b.attrelid = c.confrelid and b.attnum = pair.theirs and b.attname = 'id'
    where c.contype = 'f' and c.confrelid in ('offers'::regclass, 'offer_options'::regclass)
      and c.conrelid not in ('offer_options'::regclass, 'requirements'::regclass, 'offer_partners'::regclass,
        'offer_funding_assets'::regclass, 'offer_contracts'::regclass)`.execute(db);
  return rows;
}

export async function listAcknowledgedTexts(db: Db, offerId: string): Promise<DocumentText[]> {
  const { rows } = await sql<DocumentText>`
    select distinct document, version, sha256, url from acknowledgements where offer_id = ${offerId}`.execute(
    db,
  );
  return rows;
}

export async function listOptionsInProgress(db: Db, optionIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct offer_option_id as id from participations where offer_option_id = any(${optionIds}::uuid[])
      and status in ('prepared', 'pending', 'submitted', 'remit_submitted')`.execute(db);
  return rows.map(({ id }) => id);
}

export async function listOffersFundedBy(db: Db, assetId: string): Promise<string[]> {
  const { rows } = await sql<{ slug: string }>`
    select o.slug from offers o join offer_funding_assets f on f.offer_id = o.id
    where f.asset_id = ${assetId} order by o.slug`.execute(db);
  return rows.map(({ slug }) => slug);
}

export async function listOffersUsingAsset(db: Db, assetId: string): Promise<string[]> {
  const { rows } = await sql<{ slug: string }>`
    select o.slug from offers o where o.asset_id = ${assetId} or exists (
      select from offer_funding_assets f where f.offer_id = o.id and f.asset_id = ${assetId}) order by o.slug`.execute(
    db,
  );
  return rows.map(({ slug }) => slug);
}

type OfferUse = { prepared: number; pending: number; submitted: number; orders: number };

export async function countOfferUse(db: Db, offerId: string): Promise<OfferUse> {
  const { rows } = await sql<OfferUse>`
    select count(*) filter (where status = 'prepared')::int as prepared,
      count(*) filter (where status = 'pending')::int as pending,
      count(*) filter (where status = 'submitted')::int as submitted,
      (select count(*)::int from tokenized_orders where offer_id = ${offerId}
        and state in ('asking', 'unknown', 'attested', 'live') and expires_at > now()) as orders
    from participations where offer_id = ${offerId} and status in ('prepared', 'pending', 'submitted')`.execute(
    db,
  );
  return rows[0] ?? { prepared: 0, pending: 0, submitted: 0, orders: 0 };
}
