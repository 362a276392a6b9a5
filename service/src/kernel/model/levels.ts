import Type, { type Static } from 'typebox';
import { Closed, ObjectName } from '../wire.ts';

export const LEVELS = [
  'Sorting_KYC_Level',
  'BasicKYCLevel',
  'AccreditationIndividual_FullVerification',
] as const;

export type Level = (typeof LEVELS)[number];

export const KycLevel = Type.Enum([...LEVELS], { title: 'KycLevel' });

export const NewKycToken = Closed(
  {
    level_name: Type.Optional(KycLevel),
    reset: Type.Optional(
      Type.Boolean({
        description:
          'Resets the applicant, so that an approved level can be repeated. Use the value of `kyc_reset` from the requirement status. Do not set it when you only renew a token during the flow.',
      }),
    ),
  },
  { title: 'NewKycToken' },
);

export const KycToken = Closed(
  {
    object: ObjectName('kyc_token'),
    token: Type.String({ description: "Short-lived access token for the identity provider's web SDK." }),
  },
  { title: 'KycToken' },
);
export type KycToken = Static<typeof KycToken>;
