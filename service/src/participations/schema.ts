import Type, { type Static } from 'typebox';
import { List } from '../http/paging.ts';
import { Chain, Closed, Nullable, ObjectName, Timestamp, Uint256 } from '../http/wire.ts';
import { Asset } from '../offers/schema.ts';

export const STATUSES = [
  'prepared',
  'pending',
  'submitted',
  'completed',
  'failed',
  'remit_submitted',
  'remitted',
  'remit_failed',
] as const;

export const Participation = Closed(
  {
    object: ObjectName('participation'),
    id: Type.String(),
    offer_id: Type.String(),
    offer_option_id: Type.String(),
    status: Type.Enum([...STATUSES], {
      description: [
        '`prepared`: the approval is not yet mined or confirmed.',
        '`pending`: the approval is good; the amount is going to be taken.',
        '`submitted`: the transaction that takes it is on its way.',
        '`completed`: it is taken and confirmed.',
        '`failed`: nothing was taken.',
        '`remit_submitted`, `remitted`, `remit_failed`: the same of a refund.',
      ].join(' '),
    }),
    amount: Uint256,
    amount_string: Type.String({ examples: ['1000.5'], description: 'The amount in whole units.' }),
    asset: Asset,
    chain: Chain,
    wallet_address: Nullable(Type.String()),
    inserted_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Participation' },
);
export type Participation = Static<typeof Participation>;

export const ParticipationList = List(Participation, 'Participations');

export const NewParticipation = Closed({
  offer_id: Type.String({ description: 'The id of the offer, or its slug.' }),
  offer_option_id: Type.String(),
  chain: Chain,
  wallet_address: Type.String({ maxLength: 64, description: 'Whose approval it is.' }),
  amount: Uint256,
  asset_id: Type.String({ maxLength: 64, description: 'One of the `funding_assets` of the offer.' }),
  approval_transaction_hash: Type.String({
    maxLength: 128,
    description: 'The transaction that approved the fund of the offer on this chain; a fresh one every time.',
  }),
});
export type NewParticipation = Static<typeof NewParticipation>;
