import Type, { type Static } from 'typebox';
import { List, PageQuery } from '../paging.ts';
import {
  Chain,
  ChainAddress,
  Closed,
  Decimal,
  EvmAddress,
  Nullable,
  ObjectName,
  Timestamp,
  Uri,
} from '../wire.ts';

export const OFFER_TYPES = ['platform::token_sale', 'fund::swap', 'tokenized::swap'] as const;
export const OfferType = Type.Enum([...OFFER_TYPES]);
export type OfferType = Static<typeof OfferType>;

export const Asset = Closed(
  {
    id: Type.String({ examples: ['usd-coin'] }),
    code: Type.String({ examples: ['USDC'] }),
    name: Type.String({ examples: ['USD Coin'] }),
    fractional_digits: Type.Integer({ examples: [6] }),
  },
  { title: 'Asset' },
);
export type Asset = Static<typeof Asset>;

export const OfferOption = Closed(
  {
    id: Type.String(),
    slug: Type.String(),
    price_usd: Nullable(Decimal),
    floor_price_usd: Nullable(Decimal),
    bid_increment: Nullable(Decimal),
    minimum_purchase_usd: Nullable(Decimal),
    total_token_supply: Nullable(Decimal),
    sale_agreement_url: Nullable(Uri),
  },
  { title: 'OfferOption' },
);
export type OfferOption = Static<typeof OfferOption>;

/** The data that an offer card shows. With this data, a list of offers can show its cards without further requests. */
export const OfferCard = Closed(
  {
    name: Type.String(),
    asset: Asset,
    chains: Type.Array(Chain),
    state: Type.Enum(['upcoming', 'open', 'ended']),
    price_usd: Nullable(Decimal),
    raised_usd: Nullable(Decimal),
    target_usd: Nullable(Decimal),
    fee_bps: Nullable(Type.Integer()),
  },
  { title: 'OfferCard', description: 'Only with `include=summary`.' },
);
export type OfferCard = Static<typeof OfferCard>;

const INCLUDE = {
  include: Type.Optional(
    Type.Unsafe<string | string[]>({
      type: ['string', 'array'],
      items: { type: 'string' },
      description:
        '`summary` adds what a card shows: name, asset, chains, state, price, amount raised, target, fee.',
      examples: ['summary'],
    }),
  ),
};
/** The path parameters of routes that concern one offer. */
export const OfferParams = Type.Object({
  offer_id: Type.String({ description: 'The id or slug of the offer.' }),
});

export const OfferQuery = Type.Object(INCLUDE);
export const OfferPageQuery = Type.Object({ ...PageQuery.properties, ...INCLUDE });

const summary = {
  id: Type.String(),
  slug: Type.String(),
  type: OfferType,
  tagline: Nullable(Type.String()),
  starts_at: Nullable(Timestamp),
  ends_at: Nullable(Timestamp),
  logo_url: Uri,
  banner_url: Nullable(Uri),
  options: Type.Array(OfferOption),
  summary: Type.Optional(OfferCard),
};

export const OfferSummary = Closed({ object: ObjectName('offer'), ...summary }, { title: 'Offer' });
export type OfferSummary = Static<typeof OfferSummary>;
export const OfferList = List(OfferSummary, 'Offers');
export type OfferList = Static<typeof OfferList>;

// Terms, links, FAQs and milestones have the same shape in the API as in an offer file.
export const TERMS = Type.Array(Closed({ key: Type.String(), value: Type.String() }));
export const LINKS = Type.Array(Closed({ label: Type.String(), url: Uri }));
export const FAQS = Type.Array(Closed({ question: Type.String(), answer: Type.String() }));
export const MILESTONES = Type.Array(
  Closed({
    name: Type.String(),
    schedule: Type.String({ examples: ['Q3 2026'] }),
    status: Type.Enum(['completed', 'active', 'upcoming']),
  }),
);

export const FundingToken = Closed({
  asset_id: Type.String(),
  address: ChainAddress,
  decimals: Type.Integer(),
});

export const OfferContract = Closed(
  {
    chain: Chain,
    kind: Type.Enum(['fund', 'swap']),
    address: ChainAddress,
    asset_address: Nullable(ChainAddress),
    allow_list_address: Nullable(EvmAddress),
    funding_tokens: Type.Array(FundingToken),
  },
  { title: 'OfferContract' },
);

export const OfferDetails = Closed(
  {
    object: ObjectName('offer_details'),
    ...summary,
    name: Type.String(),
    about: Nullable(Type.String()),
    category: Nullable(Type.String()),
    asset: Asset,
    funding_assets: Type.Array(Asset),
    terms: TERMS,
    links: LINKS,
    faqs: FAQS,
    milestones: MILESTONES,
    contracts: Type.Array(OfferContract),
  },
  { title: 'OfferDetails' },
);
export type OfferDetails = Static<typeof OfferDetails>;
