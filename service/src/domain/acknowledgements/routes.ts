import { OfferParams } from '../../kernel/model/offer.ts';
import { PageQuery } from '../../kernel/paging.ts';
import { clientNetwork } from '../../platform/http/network.ts';
import { userRoute } from '../../platform/http/route.ts';
import { acknowledge, listAcknowledged } from './acknowledgement.ts';
import { Acknowledgement, Acknowledgements, NewAcknowledgement } from './schema.ts';

export const acknowledgementRoutes = [
  userRoute('wallets:write', {
    method: 'POST',
    path: '/v1/offers/:offer_id/acknowledgements',
    operationId: 'createAcknowledgement',
    summary: 'Record that the user has read a document',
    description:
      "Completes the offer's `acknowledgement` requirements for this document. Show the document first, then send the " +
      "values from the requirement's `details`. If a newer version applies by then, the reply is " +
      '`acknowledgement_outdated`, with the current `version` and `sha256` in `errors`. As long as the version ' +
      'applies, a repeated request returns the first record.',
    params: OfferParams,
    body: NewAcknowledgement,
    reply: Acknowledgement,
    errors: ['validation_failed', 'not_found', 'acknowledgement_outdated', 'offer_ended'],
    handle: (ctx, caller, { params, body, request }) =>
      acknowledge(ctx, caller, params.offer_id, body, clientNetwork(request)),
  }),
  userRoute('requirements:read', {
    method: 'GET',
    path: '/v1/offers/:offer_id/acknowledgements',
    operationId: 'listAcknowledgements',
    summary: "List the user's acknowledgements",
    description:
      "Lists the offer's documents that the user has acknowledged, with their versions, newest first. An acknowledgement " +
      'counts for all partners that sell the offer, so the list includes acknowledgements recorded by other partners. ' +
      'Records of earlier versions stay in the list.',
    params: OfferParams,
    query: PageQuery,
    reply: Acknowledgements,
    errors: ['validation_failed', 'not_found'],
    handle: (ctx, caller, { params, query }) => listAcknowledged(ctx, caller, params.offer_id, query),
  }),
];
