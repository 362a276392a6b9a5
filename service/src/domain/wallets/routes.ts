import Type from 'typebox';
import { OfferParams } from '../../kernel/model/offer.ts';
import { userRoute } from '../../platform/http/route.ts';
import { issueChallenge } from '../proofs/challenge.ts';
import {
  AddressQuery,
  AllowWallet,
  AllowWalletReply,
  Challenge,
  ConnectWallet,
  NewChallenge,
  OptionAddress,
  OptionAddresses,
} from '../proofs/schema.ts';
import { allowWallet, assertMayReplayAllow } from './allow.ts';
import { connectWallet, listWallets, removeWallet } from './binding.ts';

export const walletRoutes = [
  userRoute('wallets:write', {
    method: 'POST',
    path: '/v1/wallet-ownership',
    operationId: 'createWalletOwnershipChallenge',
    summary: 'Create a wallet ownership challenge',
    description:
      'Valid for ten minutes and one use. A new challenge for the same wallet and chain replaces the previous one.',
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
      'Checking the signature consumes the challenge, whatever the result. Accepts signatures from EOAs (EIP-191), ' +
      'contract wallets (EIP-1271, ERC-6492, EIP-7702) and Solana keys (ed25519). An option without a `whitelisted_wallet` requirement ' +
      'keeps one wallet per protocol; a new wallet replaces the previous one.',
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
      'wallet_restricted',
      'wallet_not_proven',
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
    summary: "List the user's connected wallets",
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
    description: 'Possible until the offer ends, including before it starts.',
    params: Type.Object({ ...OfferParams.properties, id: Type.String() }),
    reply: OptionAddress,
    errors: ['not_found', 'offer_ended'],
    handle: (ctx, caller, { params }) => removeWallet(ctx, caller, params.offer_id, params.id),
  }),
  userRoute('wallets:write', {
    method: 'POST',
    path: '/v1/offers/:offer_id/allow-wallet',
    operationId: 'allowWallet',
    summary: 'Add a wallet to the allow-list of a swap offer',
    description:
      'Consumes the challenge. Returns the transaction that the wallet must broadcast to join the allow-list, or an empty ' +
      'object if the wallet is already allowed or the offer has no allow-list.',
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
      'allow_list_external',
      'offer_ended',
      'requirements_not_met',
      'wallet_not_proven',
      'wallet_sanctioned',
      'wallet_restricted',
      'wallet_already_bound',
      'contract_not_found',
      'contract_reverted',
      'upstream_error',
      'upstream_unavailable',
    ],
    recheck: (ctx, caller, { params, body }, reply) =>
      assertMayReplayAllow(ctx, caller, params.offer_id, body, reply),
    handle: (ctx, caller, { params, body }) => allowWallet(ctx, caller, params.offer_id, body),
  }),
];
