import Type, { type Static } from 'typebox';
import { Asset } from '../../kernel/model/offer.ts';
import { List, PageQuery } from '../../kernel/paging.ts';
import { Chain, Closed, Nullable, ObjectName, Timestamp, Uint256, Uri } from '../../kernel/wire.ts';

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

const TransactionLinks = Closed({
  approval: Uri,
  commit: Nullable(Uri),
  remit: Nullable(Uri),
});

const Transactions = Closed(
  {
    approval_hash: Type.String(),
    commit_hash: Nullable(Type.String()),
    remit_hash: Nullable(Type.String()),
    explorer_urls: TransactionLinks,
  },
  { title: 'ParticipationTransactions', description: 'Only with `include=transactions`.' },
);
export type Transactions = Static<typeof Transactions>;

const ParticipationUser = Closed(
  { id: Type.String(), email: Nullable(Type.String()) },
  {
    title: 'ParticipationUser',
    description:
      'Only with `include=user` and a partner token. `email` is null unless the user granted the scope `email`.',
  },
);
export type ParticipationUser = Static<typeof ParticipationUser>;

export const Participation = Closed(
  {
    object: ObjectName('participation'),
    id: Type.String(),
    offer_id: Type.String(),
    offer_option_id: Type.String(),
    status: Type.Enum([...STATUSES], {
      description: [
        '`prepared`: the approval is not mined or confirmed yet.',
        '`pending`: the approval is valid and the commit is about to be sent.',
        '`submitted`: the transaction that commits the amount is in progress.',
        '`completed`: the commit is confirmed.',
        '`failed`: nothing was committed.',
        '`remit_submitted`, `remitted`, `remit_failed`: a refund is in progress, paid, or failed.',
      ].join(' '),
    }),
    amount: Uint256,
    amount_string: Type.String({ examples: ['1000.5'], description: 'The amount as a decimal number.' }),
    asset: Asset,
    chain: Chain,
    wallet_address: Nullable(Type.String()),
    inserted_at: Timestamp,
    updated_at: Timestamp,
    transactions: Type.Optional(Transactions),
    user: Type.Optional(ParticipationUser),
  },
  { title: 'Participation' },
);
export type Participation = Static<typeof Participation>;

const INCLUDE = {
  include: Type.Optional(
    Type.Unsafe<string | string[]>({
      type: ['string', 'array'],
      items: { type: 'string' },
      description: 'Members to add, separated by commas: `transactions` and, with a partner token, `user`.',
      examples: ['transactions'],
    }),
  ),
};
export const ParticipationQuery = Type.Object(INCLUDE);
export const ParticipationPageQuery = Type.Object({ ...PageQuery.properties, ...INCLUDE });

export const ParticipationList = List(Participation, 'Participations');

export const NewParticipation = Closed({
  offer_id: Type.String({ description: 'The id or slug of the offer.' }),
  offer_option_id: Type.String(),
  chain: Chain,
  wallet_address: Type.String({
    maxLength: 64,
    description: 'The wallet that approved the fund as spender.',
  }),
  amount: Uint256,
  asset_id: Type.String({ maxLength: 64, description: "One of the offer's `funding_assets`." }),
  approval_transaction_hash: Type.String({
    maxLength: 128,
    description:
      'The transaction that approved the fund as spender on this chain. Each participation needs a new approval.',
  }),
});
export type NewParticipation = Static<typeof NewParticipation>;
