import { sql } from 'kysely';
import type { Hex } from 'viem';
import type { Db } from '../db/pool.ts';
import type { EvmChain } from '../http/wire.ts';
import type { Requirement } from '../requirements/schema.ts';
import type { Asset, OfferDetails, OfferOption as OfferOptionOfWire, OfferType } from './schema.ts';

/** Numbers of the wire are text here, exactly as they were written. */
export type OfferOption = OfferOptionOfWire & {
  /** How old an accreditation may be. */
  accreditation_days: number;
  requirements: Requirement[];
};

export type FundingToken = { asset_id: string; address: Hex; decimals: number };

/** Where an offer is deployed; addresses in lower case. */
export type OfferContract = {
  chain: EvmChain;
  kind: 'fund' | 'swap';
  address: Hex;
  asset_address: Hex | null;
  /** The contract that `allow` is called on; null when there is no list to be on. */
  allow_list: Hex | null;
  /** For contracts that do not tell their EIP-712 domain themselves. */
  domain_name: string | null;
  funding_tokens: FundingToken[];
};

type Texts = Pick<OfferDetails, 'terms' | 'links' | 'faqs' | 'milestones'>;

export type StoredOffer = Texts & {
  id: string;
  slug: string;
  type: OfferType;
  name: string;
  tagline: string | null;
  about: string | null;
  category: string | null;
  starts_at: string | null;
  /** The earlier of its planned end and the moment it was closed. */
  ends_at: string | null;
  planned_end: string | null;
  logo_url: string;
  banner_url: string | null;
  symbol: string | null;
  fee_bps: number | null;
  published_at: string | null;
  closed_at: string | null;
  inserted_at: string;
  asset: Asset;
  funding_assets: Asset[];
  options: OfferOption[];
  contracts: OfferContract[];
};

/** The published offers of a partner, newest first. */
export async function listPublished(db: Db, partnerId: string): Promise<StoredOffer[]> {
  const mine = sql<boolean>`o.published_at is not null and exists (
    select from offer_partners p where p.offer_id = o.id and p.partner_id = ${partnerId})`;
  return readOffers(db, mine);
}

/** An offer whoever may see it: for work that no caller asks for. */
export async function readOfferById(db: Db, id: string): Promise<StoredOffer | null> {
  return (await readOffers(db, sql`o.id = ${id}`))[0] ?? null;
}

export async function listAllOffers(db: Db): Promise<StoredOffer[]> {
  return readOffers(db, sql`true`);
}

export async function readOfferBySlug(db: Db, slug: string): Promise<StoredOffer | null> {
  return (await readOffers(db, sql`o.slug = ${slug}`))[0] ?? null;
}

/** One statement, so that an offer is never seen half changed. */
async function readOffers(db: Db, condition: ReturnType<typeof sql<boolean>>): Promise<StoredOffer[]> {
  const { rows } = await sql<StoredOffer>`
    select o.id, o.slug, o.type, o.name, o.tagline, o.about, o.category, o.starts_at,
      least(o.ends_at, o.closed_at) as ends_at, o.ends_at as planned_end, o.logo_url, o.banner_url, o.symbol, o.fee_bps,
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
  'funding_tokens', coalesce((select json_agg(json_build_object('asset_id', t.asset_id, 'address', t.address,
    'decimals', t.decimals) order by t.position)
    from offer_funding_tokens t where t.offer_id = c.offer_id and t.chain = c.chain), '[]'))`;
