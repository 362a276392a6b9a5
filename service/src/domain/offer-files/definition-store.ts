import { sql } from 'kysely';
import { newId } from '../../kernel/ids.ts';
import type { Asset } from '../../kernel/model/offer.ts';
import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { NamedPartner, OfferDefinition } from './definition.ts';
import { requirementKey } from './file-rules.ts';
import type { OfferFile } from './file-schema.ts';

type Ids = Pick<Context, 'clock' | 'random'>;

/** Makes other transactions that apply offer files wait until this transaction ends. */
export async function lockOffers(tx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('offers', 0))`.execute(tx);
}

/** New participations in the offer wait for this lock, because they lock the same row with `for share`. */
export async function lockOffer(tx: Db, offerId: string): Promise<void> {
  await sql`select from offers where id = ${offerId} for update`.execute(tx);
}

export async function findPartners(db: Db, reference: string): Promise<NamedPartner[]> {
  const { rows } = await sql<NamedPartner>`
    select p.id, p.name from partners p where p.id::text = ${reference} or p.name = ${reference}
      or exists (select from oauth_clients c where c.partner_id = p.id and c.client_id = ${reference})`.execute(
    db,
  );
  return rows;
}

export async function listOfferPartners(db: Db, offerId: string): Promise<NamedPartner[]> {
  return db
    .selectFrom('offer_partners as o')
    .innerJoin('partners as p', 'p.id', 'o.partner_id')
    .select(['p.id', 'p.name'])
    .where('o.offer_id', '=', offerId)
    .orderBy('p.id')
    .execute();
}

/** A stored asset. `transfers` says whether a transfer moves exactly the requested amount. */
export type StoredAsset = Asset & Pick<OfferFile['assets'][string], 'transfers'>;

export async function readAssets(db: Db, ids: readonly string[]): Promise<Map<string, StoredAsset>> {
  const rows = await db
    .selectFrom('assets')
    .select(['id', 'code', 'name', 'fractional_digits', 'transfers'])
    .where('id', '=', sql<string>`any(${ids})`)
    .execute();
  return new Map(rows.map((asset) => [asset.id, asset]));
}

export async function upsertAsset(db: Db, asset: StoredAsset): Promise<void> {
  const { code, name, fractional_digits, transfers } = asset;
  await db
    .insertInto('assets')
    .values(asset)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ code, name, fractional_digits, transfers }))
    .execute();
}

export async function findSymbolConflicts(
  db: Db,
  slug: string,
  symbol: string,
  now: number,
): Promise<string[]> {
  const { rows } = await sql<{ slug: string }>`
    select distinct o.slug from offers o join offer_partners p on p.offer_id = o.id
    where o.symbol = ${symbol} and o.slug <> ${slug} and (least(o.ends_at, o.closed_at) > ${toTimestamp(now * 1000)}) is not false
      and p.partner_id in (select q.partner_id from offer_partners q join offers m on m.id = q.offer_id where m.slug = ${slug})`.execute(
    db,
  );
  return rows.map((row) => row.slug);
}

/** An option keeps its id as long as its slug stays the same; a requirement, as long as its `requirementKey` does. */
export async function writeOffer(
  ctx: Ids,
  tx: Db,
  definition: OfferDefinition,
  before: StoredOffer | null,
  assets: ReadonlyMap<string, Asset>,
): Promise<void> {
  const now = toTimestamp(ctx.clock.micros());
  const id = before?.id ?? newId(ctx.clock, ctx.random);
  const {
    slug,
    asset,
    partners,
    options,
    contracts,
    funding_assets,
    terms,
    links,
    faqs,
    milestones,
    ...columns
  } = definition;
  const fields = {
    ...columns,
    asset_id: asset,
    terms: JSON.stringify(terms),
    links: JSON.stringify(links),
    faqs: JSON.stringify(faqs),
    milestones: JSON.stringify(milestones),
    updated_at: now,
  };
  if (before === null)
    await tx
      .insertInto('offers')
      .values({ id, slug, inserted_at: now, ...fields })
      .execute();
  else await tx.updateTable('offers').set(fields).where('id', '=', id).execute();
  await writePartners(tx, id, partners);
  await writeOptions(ctx, tx, id, options, before);
  await writeContracts(tx, id, { type: columns.type, contracts, funding_assets }, assets);
}

async function writePartners(tx: Db, offer_id: string, partners: readonly NamedPartner[]): Promise<void> {
  const ids = partners.map(({ id }) => id);
  await sql`delete from offer_partners where offer_id = ${offer_id} and partner_id <> all(${ids}::uuid[])`.execute(
    tx,
  );
  await tx
    .insertInto('offer_partners')
    .values(ids.map((partner_id) => ({ offer_id, partner_id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function writeOptions(
  ctx: Ids,
  tx: Db,
  offer_id: string,
  options: OfferDefinition['options'],
  before: StoredOffer | null,
): Promise<void> {
  const known = new Map(before?.options.map((option) => [option.slug, option]));
  const slugs = options.map(({ slug }) => slug);
  await sql`delete from offer_options where offer_id = ${offer_id} and slug <> all(${slugs})`.execute(tx);
  for (const [position, { slug, requirements, ...fields }] of options.entries()) {
    const option_id = known.get(slug)?.id ?? newId(ctx.clock, ctx.random);
    await tx
      .insertInto('offer_options')
      .values({ id: option_id, offer_id, slug, position, ...fields })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ position, ...fields }))
      .execute();
    await writeRequirements(ctx, tx, option_id, requirements);
  }
}

async function writeRequirements(
  ctx: Ids,
  tx: Db,
  option_id: string,
  requirements: OfferFile['options'][number]['requirements'],
): Promise<void> {
  const keys = requirements.map(requirementKey);
  await sql`delete from requirements where option_id = ${option_id} and key <> all(${keys})`.execute(tx);
  for (const [position, requirement] of requirements.entries()) {
    const details = requirement.details === null ? null : JSON.stringify(requirement.details);
    const id = newId(ctx.clock, ctx.random);
    await tx
      .insertInto('requirements')
      .values({ id, option_id, key: requirementKey(requirement), type: requirement.type, details, position })
      .onConflict((conflict) => conflict.columns(['option_id', 'key']).doUpdateSet({ details, position }))
      .execute();
  }
}

/** Unlike options and requirements, contracts and funding tokens have no ids that must stay the same. */
async function writeContracts(
  tx: Db,
  offer_id: string,
  { type, contracts, funding_assets }: Pick<OfferDefinition, 'type' | 'contracts' | 'funding_assets'>,
  assets: ReadonlyMap<string, Asset>,
): Promise<void> {
  const kind = type === 'platform::token_sale' ? 'fund' : 'swap';
  await tx.deleteFrom('offer_contracts').where('offer_id', '=', offer_id).execute();
  await tx.deleteFrom('offer_funding_assets').where('offer_id', '=', offer_id).execute();
  await tx
    .insertInto('offer_funding_assets')
    .values(funding_assets.map((asset_id, position) => ({ offer_id, asset_id, position })))
    .execute();
  for (const [position, { funding_tokens, ...contract }] of contracts.entries()) {
    await tx
      .insertInto('offer_contracts')
      .values({ offer_id, kind, position, ...contract })
      .execute();
    const tokens = funding_tokens.map(({ asset, address }, tokenPosition) => ({
      ...{ offer_id, chain: contract.chain, asset_id: asset, address, position: tokenPosition },
      decimals: assets.get(asset)?.fractional_digits ?? 0,
    }));
    await tx.insertInto('offer_funding_tokens').values(tokens).execute();
  }
}
