import Type from 'typebox';
import { PageQuery } from '../http/paging.ts';
import { partnerRoute } from '../http/route.ts';
import { listOffers, readOffer } from './offer.ts';
import { OfferDetails, OfferList } from './schema.ts';

export const offerRoutes = [
  partnerRoute('offers:read', {
    method: 'GET',
    path: '/v1/offers',
    operationId: 'listOffers',
    summary: 'List offers',
    description: 'Returns the published offers of the partner, newest first.',
    query: PageQuery,
    reply: OfferList,
    errors: ['validation_failed'],
    cache: 'etag',
    handle: (ctx, caller, { query }) => listOffers(ctx, caller, query),
  }),
  partnerRoute('offers:read', {
    method: 'GET',
    path: '/v1/offers/:id',
    operationId: 'getOffer',
    summary: 'Get an offer',
    params: Type.Object({ id: Type.String({ description: 'The id or slug of the offer.' }) }),
    reply: OfferDetails,
    errors: ['not_found'],
    cache: 'etag',
    handle: (ctx, caller, { params }) => readOffer(ctx, caller, params.id),
  }),
];
