import Type, { type Static } from 'typebox';
import { Closed, ObjectName } from '../http/wire.ts';
import { LEVELS } from './provider.ts';

export const KycLevel = Type.Enum([...LEVELS], { title: 'KycLevel' });

export const NewKycToken = Closed(
  {
    level_name: Type.Optional(KycLevel),
    reset: Type.Optional(
      Type.Boolean({
        description:
          'Starts the applicant over, so that an approved level can be redone: the `kyc_reset` of the status. Never when a token is only renewed in the middle of the flow.',
      }),
    ),
  },
  { title: 'NewKycToken' },
);

export const KycToken = Closed(
  {
    object: ObjectName('kyc_token'),
    token: Type.String({ description: "Short-lived; for the identity provider's web SDK." }),
  },
  { title: 'KycToken' },
);
export type KycToken = Static<typeof KycToken>;

export const WebhookReceipt = Closed({ object: ObjectName('webhook_receipt') }, { title: 'WebhookReceipt' });
