import Type, { type Static, type TSchema } from 'typebox';
import { FAQS, LINKS, MILESTONES, OfferType, TERMS } from '../../kernel/model/offer.ts';
import {
  AcknowledgementDetails,
  DocumentDetails,
  ExternalWalletDetails,
  JurisdictionDetails,
  REQUIREMENT_TYPES,
  WhitelistedWalletDetails,
  type Requirement as WireRequirement,
} from '../../kernel/model/requirement.ts';
import { Chain, ChainAddress, Closed, Nullable, Uri } from '../../kernel/wire.ts';

/** This module defines the schema of offer files, which is used for validation and for editor hints. */

const Text = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description });
const Slug = (description: string) => Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,99}$', description });
const AssetId = Type.String({
  pattern: '^[a-z0-9][a-z0-9-]{0,63}$',
  description: 'The id of an asset, such as `usd-coin`.',
});

/** A number in a file is read as text, so that `1.50` stays exact with or without quotes. */
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
    description: `${description} ISO 8601 with a time zone, such as 2026-05-01T09:00:00Z.`,
  });

function optional<T extends TSchema>(schema: T, description: string) {
  return Type.Unsafe<Static<T> | null>({ ...Nullable(schema), default: null, description });
}

function listOf<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T>>({ ...schema, default: [] });
}

const FileAsset = Closed(
  {
    code: Text(32, 'The ticker, such as USDC.'),
    name: Text(200, 'The full name.'),
    fractional_digits: Type.Integer({ minimum: 0, maximum: 77, description: 'Number of decimals.' }),
    transfers: Type.Enum(['exact', 'fee_on_transfer', 'rebasing'], {
      default: 'exact',
      description: 'How transfers change amounts. Only `exact` assets can fund an offer.',
    }),
  },
  { description: 'An asset. Assets that are already stored can be omitted.' },
);

type RequirementDetails<R> = R extends unknown ? Omit<R, 'id' | 'object'> : never;
export type FileRequirement = RequirementDetails<WireRequirement>;

const DETAILS: Partial<Record<FileRequirement['type'], TSchema>> = {
  external_wallet: ExternalWalletDetails,
  whitelisted_wallet: WhitelistedWalletDetails,
  document: DocumentDetails,
  jurisdiction: JurisdictionDetails,
  acknowledgement: AcknowledgementDetails,
};

const FileRequirement = Type.Unsafe<FileRequirement>({
  type: 'object',
  properties: { type: { enum: [...REQUIREMENT_TYPES] }, details: { default: null } },
  required: ['type'],
  additionalProperties: false,
  allOf: REQUIREMENT_TYPES.map((type) => ({
    if: { properties: { type: { const: type } } },
    // biome-ignore lint/suspicious/noThenProperty: a JSON Schema keyword
    then: {
      properties: { details: DETAILS[type] ?? { type: 'null' } },
      required: type in DETAILS ? ['details'] : [],
    },
  })),
});

const FileOption = Closed({
  slug: Slug('Identifies the option within the offer. Cannot change.'),
  price_usd: Amount('The price of one token.'),
  floor_price_usd: Amount('The minimum bid price.'),
  bid_increment: Amount('The minimum increment between bids.'),
  minimum_purchase_usd: Amount('The minimum purchase. Required for offers on Solana.'),
  total_token_supply: Amount('The total number of tokens.'),
  sale_agreement_url: optional(Uri, 'The sale agreement that the user accepts.'),
  accreditation_days: Type.Integer({
    minimum: 1,
    maximum: 3650,
    default: 90,
    description: 'Maximum age of an accreditation in days.',
  }),
  requirements: Type.Array(FileRequirement, {
    default: [],
    description: 'Requirements that a user must meet before investing.',
  }),
});

const FileContract = Closed({
  chain: Chain,
  address: Type.Unsafe<string>({
    ...ChainAddress,
    description: "The contract that users approve; on Solana, the fund's multisig account.",
  }),
  asset_address: optional(ChainAddress, 'The token that the user receives.'),
  allow_list: Type.Unsafe<boolean | string>({
    type: ['boolean', 'string'],
    format: 'chain-address',
    default: false,
    description:
      'The allow-list that wallets must be on: true for the swap contract itself, or the address of another contract.',
  }),
  domain_name: optional(Text(100, ''), 'The EIP-712 domain name, for a contract without eip712Domain().'),
  vault: optional(
    ChainAddress,
    'Only on Solana: the token account that commits pay into. It must be the associated account of a cold wallet.',
  ),
  funding_tokens: Type.Array(Closed({ asset: AssetId, address: ChainAddress }), { minItems: 1 }),
});

export const OfferFile = Closed(
  {
    slug: Slug('Identifies the offer. Cannot change: a file with a different slug is a different offer.'),
    type: OfferType,
    name: Text(200, 'The display name.'),
    tagline: optional(Text(300, ''), 'One sentence. Required except for tokenized swaps.'),
    about: optional(Text(20_000, ''), 'The description.'),
    category: optional(Text(100, ''), 'Such as `Real estate`.'),
    starts_at: Time('When the offer opens. Default: when it is published.'),
    ends_at: Time('When the offer ends. Default: never.'),
    logo_url: Uri,
    banner_url: optional(Uri, 'Required except for tokenized swaps.'),
    asset: AssetId,
    funding_assets: Type.Array(AssetId, { minItems: 1, description: 'The assets that users can pay with.' }),
    symbol: optional(Text(32, ''), "The venue's symbol. Only for tokenized swaps."),
    fee_bps: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 0,
      maximum: 10_000,
      default: null,
      description:
        'The platform fee in basis points. Must match the fee that the contract takes. Only for swaps; required for tokenized swaps.',
    }),
    pending_hours: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 1,
      maximum: 8_760,
      default: null,
      description: 'Hours after which an uncommitted participation fails. Default: PENDING_TTL_HOURS.',
    }),
    open_to_anyone: Type.Boolean({
      default: false,
      description: 'Set to true to allow options without an identity requirement in production.',
    }),
    partners: Type.Array(Text(200, ''), {
      minItems: 1,
      description: 'The partners that sell the offer. Each is a name, a client id or a partner id.',
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
