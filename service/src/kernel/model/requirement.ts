import Type, { type Static, type TSchema } from 'typebox';
import { Closed, ObjectName, Uri } from '../wire.ts';
import { KycLevel } from './levels.ts';

/** This schema and the following ones describe the details of each requirement type, in the API and in offer files. */
export const ExternalWalletDetails = Closed({ protocol: Type.Enum(['ethereum', 'solana']) });

export const WhitelistedWalletDetails = Closed({
  max_wallets: Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: 'Maximum number of wallets that a user can bind to the option.',
  }),
});

export const DocumentDetails = Closed({ document_type: Type.Enum(['tax_certification']) });

export const JurisdictionDetails = Closed({
  filter_type: Type.Enum(['allow', 'reject'], {
    description: '`allow`: only the listed places pass. `reject`: all but the listed places pass.',
  }),
  filters: Type.Array(
    Closed({
      country_iso_2: Type.String({
        pattern: '^[A-Z]{2}$',
        description: 'ISO 3166-1 alpha-2 code in upper case.',
        examples: ['US'],
      }),
      regions: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
          minItems: 1,
          description:
            'ISO 3166-2 codes without the country prefix (`NY`), or region names. Default: the whole country.',
        }),
      ),
    }),
    { minItems: 1 },
  ),
});

export const AcknowledgementDetails = Closed({
  document: Type.String({
    pattern: '^[a-z0-9][a-z0-9-]{0,63}$',
    description: 'Identifies the document within the offer. All versions of the document share it.',
    examples: ['risk-disclosure'],
  }),
  name: Type.String({ minLength: 1, maxLength: 200, examples: ['Risk disclosure'] }),
  url: Type.Unsafe<string>({
    ...Uri,
    pattern: '^(https://|http://(localhost|127\\.0\\.0\\.1)(:\\d+)?/)',
    description: 'Where the user reads the document: an https URL, or an http URL on localhost.',
  }),
  version: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$',
    description:
      'The version of the document. When the version changes, every user must acknowledge the document again.',
    examples: ['2'],
  }),
  sha256: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description:
      'The SHA-256 of the file at `url`, in lower-case hexadecimal digits. The operator supplies it; the service does not fetch the file.',
    examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  }),
});
export type AcknowledgementDetails = Static<typeof AcknowledgementDetails>;

function requirementOf<const T extends string, D extends TSchema>(
  title: string,
  types: readonly T[],
  details: D,
) {
  const type = Type.Enum([...types]);
  return Closed({ object: ObjectName('requirement'), id: Type.String(), type, details }, { title });
}

export const Requirement = Type.Union(
  [
    requirementOf(
      'IdentityRequirement',
      ['identity_verification', 'kyc_approved', 'accreditation'],
      Type.Null(),
    ),
    requirementOf('ExternalWalletRequirement', ['external_wallet'], ExternalWalletDetails),
    requirementOf('WhitelistedWalletRequirement', ['whitelisted_wallet'], WhitelistedWalletDetails),
    requirementOf('DocumentRequirement', ['document'], DocumentDetails),
    requirementOf('JurisdictionRequirement', ['jurisdiction'], JurisdictionDetails),
    requirementOf('AcknowledgementRequirement', ['acknowledgement'], AcknowledgementDetails),
  ],
  { title: 'Requirement' },
);
export type Requirement = Static<typeof Requirement>;
export type RequirementType = Requirement['type'];

export const REQUIREMENT_TYPES: readonly RequirementType[] = [
  'identity_verification',
  'kyc_approved',
  'accreditation',
  'external_wallet',
  'whitelisted_wallet',
  'document',
  'jurisdiction',
  'acknowledgement',
];

/** Requirement types that concern the user's wallet, not the person. */
export const WALLET_KINDS: ReadonlySet<string> = new Set<RequirementType>([
  'external_wallet',
  'whitelisted_wallet',
]);

export const OfferRequirements = Closed(
  {
    object: ObjectName('offer_requirements'),
    offer_id: Type.String(),
    options: Type.Record(
      Type.String(),
      Closed({ object: ObjectName('list'), data: Type.Array(Requirement) }, { title: 'RequirementList' }),
      { description: 'Keyed by the id of the offer option.' },
    ),
  },
  { title: 'OfferRequirements' },
);
export type OfferRequirements = Static<typeof OfferRequirements>;

const STATUSES = ['not_started', 'in_progress', 'action_needed', 'completed', 'rejected'] as const;
const Status = Type.Enum([...STATUSES], { title: 'RequirementStatusValue' });

export const RequirementStatus = Type.Union(
  [
    Status,
    Closed(
      {
        status: Status,
        action: Type.Optional(
          Type.Enum(['kyc_not_verified', 'update_pii_data'], { description: 'Why the user must act.' }),
        ),
        kyc_level: Type.Optional(KycLevel),
        kyc_reset: Type.Optional(
          Type.Boolean({ description: 'The value to send to `POST /v1/kyc-token` as `reset`.' }),
        ),
      },
      { title: 'RequirementStatusObject' },
    ),
  ],
  { title: 'RequirementStatus', description: 'A plain string, or an object if there are further details.' },
);
export type RequirementStatus = Static<typeof RequirementStatus>;

export const RequirementStatuses = Closed(
  {
    object: ObjectName('requirement_statuses'),
    offer_id: Type.String(),
    statuses: Type.Record(Type.String(), RequirementStatus, {
      description: 'Keyed by the id of the requirement.',
    }),
  },
  { title: 'RequirementStatuses' },
);
export type RequirementStatuses = Static<typeof RequirementStatuses>;
