import Type from 'typebox';
import { userRoute } from '../http/route.ts';
import { allowWallet } from './allow.ts';
import { connectWallet, listWallets, removeWallet } from './binding.ts';
import { issueChallenge } from './challenge.ts';
import {
  AddressQuery,
  AllowWallet,
  AllowWalletReply,
  Challenge,
  ConnectWallet,
  NewChallenge,
  OptionAddress,
  OptionAddresses,
} from './schema.ts';

const OfferParams = Type.Object({
  offer_id: Type.String({ description: 'The id of the offer, or its slug.' }),
});

export const walletRoutes = [
  userRoute('wallets:write', {
    method: 'POST',
    path: '/v1/wallet-ownership',
    operationId: 'createWalletOwnershipChallenge',
    summary: 'Get a text to prove the ownership of a wallet with',
    description:
      'Good for ten minutes and one use. A newer challenge for the same wallet and chain takes the place of the older.',
    body: NewChallenge,
    forms: true,
    limit: 'wallet_ownership',
    reply: Challenge,
    errors: ['validation_failed'],
    handle: (ctx, caller, { body, request }) => issueChallenge(ctx, caller, body, request.headers.origin),
  }),
  userRoute('wallets:write', {
    method: 'POST',
    path: '/v1/offers/:offer_id/addresses',
    operationId: 'connectWallet',
    summary: 'Connect a wallet to an offer option',
    description:
      'Spends the challenge, whatever comes of it. Takes signatures of plain keys (EIP-191), of contract wallets ' +
      '(EIP-1271, ERC-6492, EIP-7702) and of Solana keys (ed25519). An option without a whitelisted_wallet requirement ' +
      'keeps one wallet of each protocol, which is replaced in place.',
    params: OfferParams,
    body: ConnectWallet,
    forms: true,
    reply: OptionAddress,
    errors: [
      'validation_failed',
      'not_found',
      'challenge_invalid',
      'chain_not_supported',
      'wallet_sanctioned',
      'max_wallets_reached',
      'wallet_already_bound',
      'offer_ended',
      'upstream_error',
      'upstream_unavailable',
    ],
    handle: (ctx, caller, { params, body }) => connectWallet(ctx, caller, params.offer_id, body),
  }),
  userRoute('wallets:read', {
    method: 'GET',
    path: '/v1/offers/:offer_id/addresses',
    operationId: 'listConnectedWallets',
    summary: 'List the connected wallets of the user',
    params: OfferParams,
    query: AddressQuery,
    reply: OptionAddresses,
    errors: ['validation_failed', 'not_found'],
    handle: (ctx, caller, { params, query }) => listWallets(ctx, caller, params.offer_id, query),
  }),
  userRoute('wallets:write', {
    method: 'DELETE',
    path: '/v1/offers/:offer_id/addresses/:id',
    operationId: 'removeConnectedWallet',
    summary: 'Disconnect a wallet',
    description: 'Until the offer has ended; before it has started too.',
    params: Type.Object({ ...OfferParams.properties, id: Type.String() }),
    reply: OptionAddress,
    errors: ['not_found', 'offer_ended'],
    handle: (ctx, caller, { params }) => removeWallet(ctx, caller, params.offer_id, params.id),
  }),
  userRoute('wallets:write', {
    method: 'POST',
    path: '/v1/offers/:offer_id/allow-wallet',
    operationId: 'allowWallet',
    summary: 'Let a wallet onto the allow-list of a swap offer',
    description:
      'Spends the challenge. Answers the transaction that the wallet broadcasts to be let in, or the empty object when ' +
      'it is in already or there is no list to be on.',
    params: OfferParams,
    body: AllowWallet,
    forms: true,
    reply: AllowWalletReply,
    errors: [
      'validation_failed',
      'not_found',
      'challenge_invalid',
      'chain_not_supported',
      'offer_type_mismatch',
      'offer_ended',
      'wallet_sanctioned',
      'contract_not_found',
      'contract_reverted',
      'upstream_error',
      'upstream_unavailable',
    ],
    handle: (ctx, caller, { params, body }) => allowWallet(ctx, caller, params.offer_id, body),
  }),
];
