import Type, { type Static } from 'typebox';
import { List, PageQuery } from '../../kernel/paging.ts';
import { Chain, Closed, ObjectName, Timestamp } from '../../kernel/wire.ts';

const Address = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'EVM: hexadecimal, upper or lower case. Solana: base58.',
});

const Signature = Type.String({
  minLength: 1,
  maxLength: 16_384,
  description:
    'The signature of the challenge message. EVM: hexadecimal. Solana: base58, base64 or hexadecimal.',
});

export const NewChallenge = Closed({
  wallet_address: Address,
  chain: Chain,
  challenge_type: Type.Optional(
    Type.Enum(['plain', 'siwe'], {
      default: 'plain',
      description:
        '`siwe` (ERC-4361) is only supported on EVM chains. On Solana, every challenge is a sign-in message for the page that sends the request, or for the first registered origin.',
    }),
  ),
  domain: Type.Optional(
    Type.String({
      maxLength: 255,
      description:
        'For `siwe`: the host of the requesting page, with its port if any. The partner must have registered an origin or https redirect URI with this host.',
    }),
  ),
  uri: Type.Optional(
    Type.String({
      maxLength: 2048,
      description:
        'For `siwe`: the URI of the requesting page. It must be under a registered origin or https redirect URI, or be a registered custom-scheme redirect URI.',
    }),
  ),
  statement: Type.Optional(
    Type.String({
      maxLength: 256,
      description:
        'For `siwe`, optional: a statement that is added after our own sentence, which contains the name of the partner and the account code.',
    }),
  ),
});
export type NewChallenge = Static<typeof NewChallenge>;

export const Challenge = Closed(
  {
    object: ObjectName('wallet_ownership_challenge'),
    message: Type.String({ description: 'The exact message that the wallet must sign.' }),
    expires_at: Timestamp,
  },
  { title: 'WalletOwnershipChallenge' },
);
export type Challenge = Static<typeof Challenge>;

export const ConnectWallet = Closed({
  chain: Chain,
  offer_option_id: Type.String({ maxLength: 64 }),
  signature: Signature,
  wallet_address: Address,
});
export type ConnectWallet = Static<typeof ConnectWallet>;

export const OptionAddress = Closed(
  {
    object: ObjectName('option_address'),
    id: Type.String(),
    address: Type.String(),
    offer_option_id: Type.String(),
    protocol: Type.Enum(['ethereum', 'solana']),
    created_at: Timestamp,
  },
  { title: 'OptionAddress' },
);
export type OptionAddress = Static<typeof OptionAddress>;
export const OptionAddresses = List(OptionAddress, 'OptionAddresses');
export type OptionAddresses = Static<typeof OptionAddresses>;

export const AddressQuery = Type.Object({
  ...PageQuery.properties,
  offer_option_id: Type.Optional(
    Type.String({ maxLength: 64, description: 'Default: all options of the offer.' }),
  ),
});
export type AddressQuery = Static<typeof AddressQuery>;

export const AllowWallet = Closed({ chain: Chain, signature: Signature, wallet_address: Address });
export type AllowWallet = Static<typeof AllowWallet>;

export const AllowWalletTransaction = Closed(
  {
    object: ObjectName('allow_wallet_transaction'),
    action: Type.Literal('broadcast_transaction'),
    data: Type.String({ description: 'The calldata.' }),
    to: Type.String({ description: 'The contract to call.' }),
  },
  { title: 'AllowWalletTransaction' },
);

/** The reply if the wallet needs no transaction: an empty object. */
const AlreadyAllowed = Closed({}, { title: 'WalletAllowed' });

export const AllowWalletReply = Type.Union([AllowWalletTransaction, AlreadyAllowed], {
  title: 'AllowWalletReply',
  description: 'The transaction to broadcast, or an empty object if none is needed.',
});
export type AllowWalletReply = Static<typeof AllowWalletReply>;
