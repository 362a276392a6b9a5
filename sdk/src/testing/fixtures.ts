import type { OfferContract, OfferDetails, Participation } from '../wire.ts';

const USDC = { id: 'usd-coin', code: 'USDC', name: 'USD Coin', fractional_digits: 6 };
const CREATED_AT = '2026-01-02T03:04:05.000000Z';
const address = (digit: string) => `0x${digit.repeat(40)}`;

type OfferOf<Type extends OfferDetails['type']> = Extract<OfferDetails, { type: Type }>;

/** The fields that differ between offer types. */
const VARIANTS = {
  'platform::token_sale': {
    slug: 'harbour-quarter',
    name: 'Harbour Quarter',
    kind: 'fund',
    asset: { id: 'hbq', code: 'HBQ', name: 'Harbour Quarter', fractional_digits: 18 },
    price: '1.25',
  },
  'fund::swap': {
    slug: 'treasury-fund',
    name: 'Treasury Fund',
    kind: 'swap',
    asset: { id: 'tbf', code: 'TBF', name: 'Treasury Fund', fractional_digits: 18 },
    price: null,
  },
  'tokenized::swap': {
    slug: 'apple-tokenized',
    name: 'Apple (tokenized)',
    kind: 'swap',
    asset: { id: 'aapl-on', code: 'AAPLon', name: 'Apple (tokenized)', fractional_digits: 18 },
    price: null,
  },
} as const;

/**
 * Returns an open offer of the given type with one option on `ethereum_sepolia`, for tests and stories. `changes`
 * overrides fields.
 *
 * @example
 * ```ts
 * import { offerFixture } from '@causeway/sdk/testing';
 *
 * const offer = offerFixture('fund::swap', { name: 'My fund' });
 * console.log(offer.type, offer.name);
 * ```
 */
export function offerFixture<Type extends OfferDetails['type']>(
  type: Type,
  changes: Partial<Omit<OfferDetails, 'type'>> = {},
): OfferOf<Type> {
  const { slug, name, kind, asset, price } = VARIANTS[type];
  const contract: OfferContract = {
    ...{ chain: 'ethereum_sepolia', kind, address: address('a'), asset_address: address('b') },
    allow_list_address: type === 'fund::swap' ? address('c') : null,
    funding_tokens: [{ asset_id: USDC.id, address: address('d'), decimals: USDC.fractional_digits }],
  };
  const option = {
    ...{ id: `${slug}-public`, slug: 'public', price_usd: price, floor_price_usd: null, bid_increment: null },
    ...{ minimum_purchase_usd: '10', total_token_supply: null, sale_agreement_url: null },
  };
  const offer = {
    ...{ object: 'offer_details' as const, id: `offer-${slug}`, slug, type, name, tagline: null },
    ...{ starts_at: null, ends_at: null, logo_url: 'data:,', banner_url: null, options: [option] },
    ...{ about: null, category: null, asset, funding_assets: [USDC], contracts: [contract] },
    ...{ terms: [], links: [], faqs: [], milestones: [], ...changes },
  };
  return offer as unknown as OfferOf<Type>;
}

/**
 * Returns a completed participation of 100 USDC in the token sale of `offerFixture`. `changes` overrides fields.
 *
 * @example
 * ```ts
 * import { participationFixture } from '@causeway/sdk/testing';
 *
 * console.log(participationFixture({ status: 'pending' }).status);
 * ```
 */
export function participationFixture(changes: Partial<Participation> = {}): Participation {
  return {
    ...{ object: 'participation', id: 'participation-1', offer_id: 'offer-harbour-quarter' },
    ...{ offer_option_id: 'harbour-quarter-public', status: 'completed', amount: '100000000' },
    ...{ amount_string: '100', asset: USDC, chain: 'ethereum_sepolia', wallet_address: address('e') },
    ...{ inserted_at: CREATED_AT, updated_at: CREATED_AT, ...changes },
  };
}
