import Type from 'typebox';
import { OfferDetails, OfferList, OfferPageQuery, OfferQuery } from '../../kernel/model/offer.ts';
import type { Query } from '../../platform/http/query-string.ts';
import { partnerRoute } from '../../platform/http/route.ts';
import { listOffersWith, readOfferWith } from './card.ts';

export const offerRoutes = [
  partnerRoute('offers:read', {
    method: 'GET',
    path: '/v1/offers',
    operationId: 'listOffers',
    summary: 'List offers',
    description: "Returns the partner's published offers, newest first.",
    query: OfferPageQuery,
    reply: OfferList,
    errors: ['validation_failed'],
    cache: 'etag',
    handle: (ctx, caller, { query, request }) => listOffersWith(ctx, caller, query, request.query as Query),
  }),
  partnerRoute('offers:read', {
    method: 'GET',
    path: '/v1/offers/:id',
    operationId: 'getOffer',
    summary: 'Get an offer',
    params: Type.Object({ id: Type.String({ description: 'The id or slug of the offer.' }) }),
    query: OfferQuery,
    reply: OfferDetails,
    errors: ['not_found', 'validation_failed'],
    cache: 'etag',
    handle: (ctx, caller, { params, request }) =>
      readOfferWith(ctx, caller, params.id, request.query as Query),
  }),
];
