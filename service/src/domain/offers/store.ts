import { type RawBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import type { JurisdictionDetails } from '../../kernel/model/requirement.ts';
import type { ContractProblem, OfferOption, StoredOffer } from '../../kernel/model/stored-offer.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';

export async function listPublished(db: Db, partnerId: string): Promise<StoredOffer[]> {
  return readOffers(db, isPublishedFor(partnerId));
}

export async function readPublished(db: Db, partnerId: string, id: string): Promise<StoredOffer | null> {
  return (await readOffers(db, sql`o.id = ${id} and ${isPublishedFor(partnerId)}`))[0] ?? null;
}

function isPublishedFor(partnerId: string): RawBuilder<boolean> {
  return sql`o.published_at is not null and exists (
    select from offer_partners p where p.offer_id = o.id and p.partner_id = ${partnerId})`;
}

export async function listAllOffers(db: Db): Promise<StoredOffer[]> {
  return readOffers(db, sql`true`);
}

export async function readOfferById(db: Db, id: string): Promise<StoredOffer | null> {
  return (await readOffers(db, sql`o.id = ${id}`))[0] ?? null;
}

export async function readOfferBySlug(db: Db, slug: string): Promise<StoredOffer | null> {
  return (await readOffers(db, sql`o.slug = ${slug}`))[0] ?? null;
}

/** Lists the options with these ids, even if their offers are no longer listed. They may belong to different offers. */
export async function listOptions(db: Db, ids: readonly string[]): Promise<OfferOption[]> {
  const { rows } = await sql<{ option: OfferOption }>`
    select ${OPTION} as option from offer_options p where p.id = any(${ids}::uuid[]) order by p.position`.execute(
    db,
  );
  return rows.map(({ option }) => option);
}

export async function listPartnersOf(db: Db, offerId: string): Promise<{ id: string; name: string }[]> {
  return db
    .selectFrom('offer_partners as o')
    .innerJoin('partners as p', 'p.id', 'o.partner_id')
    .select(['p.id', 'p.name'])
    .where('o.offer_id', '=', offerId)
    .orderBy('p.name')
    .execute();
}

/** Includes ended offers, because their wallets stay on the allow-list. */
export async function listAllowListSharers(db: Db, offerId: string): Promise<StoredOffer[]> {
  return readOffers(
    db,
    sql`o.id <> ${offerId} and exists (select from offer_contracts a join offer_contracts b using (chain, allow_list)
      where a.offer_id = o.id and b.offer_id = ${offerId})`,
  );
}

/** One statement, so that the result contains all of a concurrent change or none of it. */
async function readOffers(db: Db, condition: RawBuilder<boolean>): Promise<StoredOffer[]> {
  const { rows } = await sql<StoredOffer>`
    select o.id, o.slug, o.type, o.name, o.tagline, o.about, o.category, o.starts_at,
      least(o.ends_at, o.closed_at) as ends_at, o.ends_at as planned_end, o.logo_url, o.banner_url, o.symbol, o.fee_bps, o.pending_hours,
      o.open_to_anyone,
      o.terms, o.links, o.faqs, o.milestones, o.published_at, o.closed_at, o.inserted_at,
      (select ${ASSET} from assets a where a.id = o.asset_id) as asset,
      coalesce((select json_agg(${ASSET} order by f.position)
        from offer_funding_assets f join assets a on a.id = f.asset_id where f.offer_id = o.id), '[]') as funding_assets,
      coalesce((select json_agg(${OPTION} order by p.position)
        from offer_options p where p.offer_id = o.id), '[]') as options,
      coalesce((select json_agg(${CONTRACT} order by c.position)
        from offer_contracts c where c.offer_id = o.id), '[]') as contracts
    from offers o where ${condition} order by o.inserted_at desc, o.id desc`.execute(db);
  return rows;
}

const ASSET = sql`json_build_object('id', a.id, 'code', a.code, 'name', a.name, 'fractional_digits', a.fractional_digits)`;

const OPTION = sql`json_build_object('id', p.id, 'slug', p.slug, 'price_usd', p.price_usd::text,
  'floor_price_usd', p.floor_price_usd::text, 'bid_increment', p.bid_increment::text,
  'minimum_purchase_usd', p.minimum_purchase_usd::text, 'total_token_supply', p.total_token_supply::text,
  'sale_agreement_url', p.sale_agreement_url, 'accreditation_days', p.accreditation_days,
  'requirements', coalesce((select json_agg(json_build_object('object', 'requirement', 'id', r.id, 'type', r.type,
    'details', r.details) order by r.position) from requirements r where r.option_id = p.id), '[]'))`;

const CONTRACT = sql`json_build_object('chain', c.chain, 'kind', c.kind, 'address', c.address,
  'asset_address', c.asset_address, 'allow_list', c.allow_list, 'domain_name', c.domain_name,
  'vault', c.vault,
  'unreadable', case when c.unreadable_code is not null
    then json_build_object('code', c.unreadable_code, 'reason', c.unreadable_reason) end,
  'funding_tokens', coalesce((select json_agg(json_build_object('asset_id', t.asset_id, 'address', t.address,
    'decimals', t.decimals) order by t.position)
    from offer_funding_tokens t where t.offer_id = c.offer_id and t.chain = c.chain), '[]'))`;

export async function shareOffer(tx: Db, offerId: string): Promise<void> {
  await sql`select from offers where id = ${offerId} for share`.execute(tx);
}

/** Locks an option against changes until the transaction ends, and returns its price and its supply cap. */
export async function lockOptionSupply(
  tx: Db,
  optionId: string,
): Promise<{ price_usd: string | null; total_token_supply: string | null }> {
  const { rows } = await sql<{ price_usd: string | null; total_token_supply: string | null }>`
    select price_usd::text, total_token_supply::text from offer_options where id = ${optionId} for share`.execute(
    tx,
  );
  return rows[0] ?? { price_usd: null, total_token_supply: null };
}

/** Returns false if the time was already set, and null if there is no such offer. */
export async function setOfferTimeOnce(
  tx: Db,
  slug: string,
  column: 'published_at' | 'closed_at',
  now: string,
): Promise<boolean | null> {
  const { numUpdatedRows } = await tx
    .updateTable('offers')
    .set({ [column]: now, updated_at: now })
    .where('slug', '=', slug)
    .where(column, 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 1n) return true;
  const found = await tx.selectFrom('offers').select('id').where('slug', '=', slug).executeTakeFirst();
  return found === undefined ? null : false;
}

export async function clearClosedTime(tx: Db, slug: string, now: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('offers')
    .set({ closed_at: null, updated_at: now })
    .where('slug', '=', slug)
    .where('closed_at', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** If `problem` is null, records that the contract can be read. Returns whether the record changed. */
export async function setContractProblem(
  db: Db,
  { offer_id, chain, address }: { offer_id: string; chain: string; address: string },
  problem: ContractProblem | null,
): Promise<boolean> {
  const { rows } = await sql`
    update offer_contracts set unreadable_code = ${problem?.code ?? null}, unreadable_reason = ${problem?.reason ?? null}
    where offer_id = ${offer_id} and chain = ${chain} and address = ${address}
      and (unreadable_code, unreadable_reason) is distinct from
        (${problem?.code ?? null}::text, ${problem?.reason ?? null}::text) returning offer_id`.execute(db);
  return rows.length > 0;
}

export async function listJurisdictionFilters(db: Db): Promise<Static<typeof JurisdictionDetails>[]> {
  const { rows } = await sql<{ details: Static<typeof JurisdictionDetails> }>`
    select distinct r.details from requirements r join offer_options p on p.id = r.option_id
      join offers o on o.id = p.offer_id where r.type = 'jurisdiction' and o.published_at is not null`.execute(
    db,
  );
  return rows.map(({ details }) => details);
}

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

/** Sums completed participations across all partners. One token of a funding asset counts as one dollar. */
export async function sumCompleted(db: Db, offerIds: readonly string[]): Promise<Map<string, string>> {
  if (offerIds.length === 0) return new Map();
  const { rows } = await sql<{ offer_id: string; raised: string }>`
    select p.offer_id, trim_scale(sum(p.amount / power(10::numeric, p.asset_digits)))::text as raised
    from partners join participations p on p.partner_id = partners.id
    where p.offer_id = any(${offerIds}::uuid[]) and p.status = 'completed' group by p.offer_id`.execute(db);
  return new Map(rows.map(({ offer_id, raised }) => [offer_id, raised]));
}
