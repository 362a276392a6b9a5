import Type, { type Static } from 'typebox';
import { REQUIREMENT_TYPES, type RequirementType } from '../../kernel/model/requirement.ts';
import { Chain, Closed, Nullable, ObjectName, Timestamp } from '../../kernel/wire.ts';

const OWN_CODES = [
  'account',
  'sanctions',
  'country_policy',
  'offer_window',
  'supply',
  'wallet_proof',
  'allow_list',
] as const;

export type CheckCode = RequirementType | (typeof OWN_CODES)[number];

export const CheckNext = Closed(
  {
    type: Type.Enum([
      'identity',
      'document',
      'wallet_proof',
      'bind_wallet',
      'allow_wallet',
      'acknowledgement',
      'contact',
    ]),
    method: Nullable(Type.String()),
    path: Nullable(Type.String()),
    body: Nullable(Type.Object({}, { additionalProperties: true })),
  },
  {
    title: 'CheckNext',
    description:
      'The call that lets the user pass the check. For `acknowledgement`, first show the document at the ' +
      '`details.url` of the requirement. For `contact`, `method`, `path` and `body` are null.',
  },
);
export type CheckNext = Static<typeof CheckNext>;

export const Check = Closed(
  {
    object: ObjectName('check'),
    code: Type.Enum([...REQUIREMENT_TYPES, ...OWN_CODES], {
      description: 'A requirement type, or the name of a general check.',
    }),
    requirement_id: Nullable(Type.String()),
    status: Type.Enum(['passed', 'waiting', 'action_needed', 'rejected']),
    message: Type.String({
      description: 'A message for the user. It never contains personal data or the reason for a restriction.',
    }),
    until: Nullable(Timestamp),
    next: Nullable(CheckNext),
  },
  { title: 'Check' },
);
export type Check = Static<typeof Check>;

export const Eligibility = Closed(
  {
    object: ObjectName('eligibility'),
    offer_id: Type.String(),
    eligible: Type.Boolean({ description: 'Whether the user is eligible for at least one option.' }),
    options: Type.Array(
      Closed(
        {
          object: ObjectName('option_eligibility'),
          offer_option_id: Type.String(),
          eligible: Type.Boolean({ description: 'Whether every check has passed.' }),
          checks: Type.Array(Check),
        },
        { title: 'OptionEligibility' },
      ),
    ),
  },
  { title: 'Eligibility' },
);
export type Eligibility = Static<typeof Eligibility>;

export const EligibilityQuery = Type.Object({
  chain: Type.Optional(Chain),
  wallet_address: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'The wallet to check. Default: any proven wallet.',
    }),
  ),
});
export type EligibilityQuery = Static<typeof EligibilityQuery>;
