import Type, { type Static, type TSchema } from 'typebox';
import { Closed, EvmAddress, EvmChain, Nullable, Uri } from '../http/wire.ts';
import {
  DocumentDetails,
  ExternalWalletDetails,
  JurisdictionDetails,
  REQUIREMENT_TYPES,
  type Requirement as RequirementOfWire,
  WhitelistedWalletDetails,
} from '../requirements/schema.ts';
import { FAQS, LINKS, MILESTONES, OfferType, TERMS } from './schema.ts';

/** The shape of an offer's file: one schema checks it and gives editors their hints. */

const Text = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description });
const Slug = (description: string) => Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,99}$', description });
const AssetId = Type.String({
  pattern: '^[a-z0-9][a-z0-9-]{0,63}$',
  description: 'The id of an asset, such as `usd-coin`.',
});

/** Numbers stay the text that was written, so `1.50` is exact with and without quotes. */
const Amount = (description: string) =>
  Type.Unsafe<string | null>({
    type: ['string', 'number', 'null'],
    format: 'decimal',
    default: null,
    description,
  });

const Time = (description: string) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,6})?)?(Z|[+-]\\d\\d:\\d\\d)$',
    default: null,
    description: `${description} A date and a time with its zone, such as 2026-05-01T09:00:00Z.`,
  });

function optional<T extends TSchema>(schema: T, description: string) {
  return Type.Unsafe<Static<T> | null>({ ...Nullable(schema), default: null, description });
}

function listOf<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T>>({ ...schema, default: [] });
}

const FileAsset = Closed(
  {
    code: Text(32, 'The symbol people know, such as USDC.'),
    name: Text(200, 'The name in words.'),
    fractional_digits: Type.Integer({ minimum: 0, maximum: 77, description: 'Digits after the point.' }),
    transfers: Type.Enum(['exact', 'fee_on_transfer', 'rebasing'], {
      default: 'exact',
      description: 'Whether what is sent is what arrives and stays. Only `exact` assets can fund an offer.',
    }),
  },
  { description: 'An asset; one that is known already need not be repeated.' },
);

type RequirementDetails<R> = R extends unknown ? Omit<R, 'id' | 'object'> : never;
export type FileRequirement = RequirementDetails<RequirementOfWire>;

const DETAILS: Partial<Record<FileRequirement['type'], TSchema>> = {
  external_wallet: ExternalWalletDetails,
  whitelisted_wallet: WhitelistedWalletDetails,
  document: DocumentDetails,
  jurisdiction: JurisdictionDetails,
};

const FileRequirement = Type.Unsafe<FileRequirement>({
  type: 'object',
  properties: { type: { enum: [...REQUIREMENT_TYPES] }, details: { default: null } },
  required: ['type'],
  additionalProperties: false,
  allOf: REQUIREMENT_TYPES.map((type) => ({
    if: { properties: { type: { const: type } } },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
    then: {
      properties: { details: DETAILS[type] ?? { type: 'null' } },
      required: type in DETAILS ? ['details'] : [],
    },
  })),
});

const FileOption = Closed({
  slug: Slug('Names the option within the offer, for good.'),
  price_usd: Amount('The price of one token.'),
  floor_price_usd: Amount('The least price of a bid.'),
  bid_increment: Amount('The step between bids.'),
  minimum_purchase_usd: Amount('The least that can be invested at once.'),
  total_token_supply: Amount('How many tokens there are in all.'),
  sale_agreement_url: optional(Uri, 'What the user agrees to.'),
  accreditation_days: Type.Integer({
    minimum: 1,
    maximum: 3650,
    default: 90,
    description: 'How old an accreditation may be.',
  }),
  requirements: Type.Array(FileRequirement, { default: [], description: 'What a user must satisfy first.' }),
});

const FileContract = Closed({
  chain: EvmChain,
  address: EvmAddress,
  asset_address: optional(EvmAddress, 'The token that the user receives.'),
  allow_list: Type.Unsafe<boolean | string>({
    type: ['boolean', 'string'],
    format: 'evm-address',
    default: false,
    description: 'Whether wallets must be allowed first: by the swap contract itself (true), or by another.',
  }),
  domain_name: optional(
    Text(100, ''),
    'The EIP-712 domain name, for a contract that does not tell it by eip712Domain().',
  ),
  funding_tokens: Type.Array(Closed({ asset: AssetId, address: EvmAddress }), { minItems: 1 }),
});

export const OfferFile = Closed(
  {
    slug: Slug('Names the offer, for good: a file with another slug is another offer.'),
    type: OfferType,
    name: Text(200, 'The name that people read.'),
    tagline: optional(Text(300, ''), 'One sentence; required except for tokenized swaps.'),
    about: optional(Text(20_000, ''), 'The description.'),
    category: optional(Text(100, ''), 'Such as `Real estate`.'),
    starts_at: Time('When the offer opens; open at once when left out.'),
    ends_at: Time('When the offer ends; without an end when left out.'),
    logo_url: Uri,
    banner_url: optional(Uri, 'Required except for tokenized swaps.'),
    asset: AssetId,
    funding_assets: Type.Array(AssetId, { minItems: 1, description: 'What can be paid with.' }),
    symbol: optional(Text(32, ''), "The venue's symbol; for tokenized swaps."),
    fee_bps: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 0,
      maximum: 10_000,
      default: null,
      description: 'The platform fee in hundredths of a percent; for tokenized swaps.',
    }),
    partners: Type.Array(Text(200, ''), {
      minItems: 1,
      description: 'Who offers it: names, client ids or ids of partners.',
    }),
    options: Type.Array(FileOption, { minItems: 1 }),
    contracts: Type.Array(FileContract, { default: [] }),
    terms: listOf(TERMS),
    links: listOf(LINKS),
    faqs: listOf(FAQS),
    milestones: listOf(MILESTONES),
    assets: Type.Record(AssetId, FileAsset, { default: {}, additionalProperties: false }),
  },
  { title: 'Offer file' },
);
export type OfferFile = Static<typeof OfferFile>;
