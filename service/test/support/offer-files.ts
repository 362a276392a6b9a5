import fc from 'fast-check';
import type { FileRequirement, OfferFile } from '../../src/domain/offer-files/file-schema.ts';
import { EVM_CHAINS } from '../../src/kernel/wire.ts';

const hex = fc.stringMatching(/^0x[0-9a-fA-F]{40}$/);
const slug = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,20}$/);
/** Generates texts without `$`, which would start a placeholder. */
const words = (maxLength: number) =>
  fc.string({ minLength: 1, maxLength, unit: 'grapheme' }).filter((text) => !/[$\0]/.test(text));
const url = fc.webUrl({ validSchemes: ['https'] });
const amount = fc.option(fc.stringMatching(/^(0|[1-9][0-9]{0,20})(\.[0-9]{1,18})?$/));
const time = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

const requirement: fc.Arbitrary<FileRequirement> = fc.oneof(
  fc
    .constantFrom('identity_verification', 'kyc_approved', 'accreditation')
    .map((type) => ({ type, details: null })),
  fc
    .constantFrom('ethereum', 'solana')
    .map((protocol) => ({ type: 'external_wallet' as const, details: { protocol } })),
  fc
    .integer({ min: 1, max: 1000 })
    .map((max_wallets) => ({ type: 'whitelisted_wallet' as const, details: { max_wallets } })),
  fc.constant({ type: 'document' as const, details: { document_type: 'tax_certification' as const } }),
  fc.record({
    type: fc.constant('jurisdiction' as const),
    details: fc.record({
      filter_type: fc.constantFrom('allow', 'reject'),
      filters: fc.array(
        fc.oneof(
          fc.record({ country_iso_2: fc.constantFrom('KP', 'DE', 'US', 'XK') }),
          fc.record({
            country_iso_2: fc.constant('US'),
            regions: fc.array(fc.constantFrom('NY', 'Texas', 'N.Y.', 'PR'), { minLength: 1, maxLength: 3 }),
          }),
        ),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  }),
);

function keyOf({ type, details }: FileRequirement): string {
  if (type === 'external_wallet') return `${type}${details.protocol}`;
  return type === 'jurisdiction' ? `${type}${details.filter_type}` : type;
}

const option: fc.Arbitrary<OfferFile['options'][number]> = fc.record({
  slug,
  price_usd: amount,
  floor_price_usd: amount,
  bid_increment: amount,
  minimum_purchase_usd: amount,
  total_token_supply: amount,
  sale_agreement_url: fc.option(url),
  accreditation_days: fc.integer({ min: 1, max: 3650 }),
  requirements: fc.uniqueArray(requirement, { selector: keyOf, maxLength: 6 }),
});

function contract(funding: readonly string[]): fc.Arbitrary<OfferFile['contracts'][number]> {
  return fc.record({
    chain: fc.constantFrom(...EVM_CHAINS),
    address: hex,
    asset_address: hex,
    allow_list: fc.oneof(fc.boolean(), hex),
    domain_name: fc.option(words(20)),
    vault: fc.constant(null),
    funding_tokens: fc
      .uniqueArray(hex, {
        minLength: funding.length,
        maxLength: funding.length,
        selector: (address) => address.toLowerCase(),
      })
      .map((addresses) => addresses.map((address, index) => ({ asset: funding[index] ?? '', address }))),
  });
}

/** Generates valid offer files that cover every field. */
export function validFiles(): fc.Arbitrary<OfferFile> {
  const type = fc.constantFrom('platform::token_sale', 'fund::swap', 'tokenized::swap');
  const funding = fc.constantFrom<string[]>(['usd-coin'], ['usd-coin', 'harbour'], ['harbour', 'usd-coin']);
  return fc.tuple(type, funding).chain(([chosen, assets]) => {
    const isTokenized = chosen === 'tokenized::swap';
    const isSale = chosen === 'platform::token_sale';
    return fc
      .record({
        slug,
        type: fc.constant(chosen),
        name: words(40),
        tagline: isTokenized ? fc.option(words(60)) : words(60),
        about: fc.option(words(200)),
        category: fc.option(words(20)),
        window: fc.tuple(time, time, fc.boolean(), fc.boolean()),
        logo_url: url,
        banner_url: isTokenized ? fc.option(url) : url,
        asset: fc.constant('harbour'),
        funding_assets: fc.constant(assets),
        symbol: isTokenized ? words(10) : fc.constant(null),
        open_to_anyone: fc.boolean(),
        fee_bps: isTokenized ? fc.integer({ min: 0, max: 10_000 }) : fc.constant(null),
        pending_hours: fc.option(fc.integer({ min: 1, max: 8_760 })),
        partners: fc.subarray(['partner-one', 'partner-two'], { minLength: 1 }),
        options: fc.uniqueArray(option, {
          selector: (candidate) => candidate.slug,
          minLength: 1,
          maxLength: isSale ? 4 : 1,
        }),
        contracts: fc.uniqueArray(contract(assets), { selector: ({ chain }) => chain, maxLength: 4 }),
        terms: fc.array(fc.record({ key: words(10), value: words(10) }), { maxLength: 3 }),
        links: fc.array(fc.record({ label: words(10), url }), { maxLength: 3 }),
        faqs: fc.array(fc.record({ question: words(10), answer: words(10) }), { maxLength: 3 }),
        milestones: fc.array(
          fc.record({
            name: words(10),
            schedule: words(10),
            status: fc.constantFrom('completed', 'active', 'upcoming'),
          }),
          { maxLength: 3 },
        ),
      })
      .filter(({ window: [from, until] }) => from < until)
      .map(({ window: [from, until, hasStart, hasEnd], contracts, ...file }) => ({
        ...file,
        starts_at: hasStart ? from : null,
        ends_at: hasEnd ? until : null,
        contracts: isSale ? contracts.map((deployment) => ({ ...deployment, allow_list: false })) : contracts,
        assets: {
          harbour: { code: 'HBR', name: 'Harbour', fractional_digits: 18, transfers: 'exact' as const },
          'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6, transfers: 'exact' as const },
        },
      })) as fc.Arbitrary<OfferFile>;
  });
}
