import Type from 'typebox';
import { partnerRoute } from '../http/route.ts';
import { readRequirements } from '../offers/offer.ts';
import { OfferRequirements } from './schema.ts';

export const requirementRoutes = [
  partnerRoute('requirements:read', {
    method: 'GET',
    path: '/v1/offers/:offer_id/requirements',
    operationId: 'getRequirements',
    summary: 'Read the requirements of an offer',
    description: 'What a user must satisfy, per option of the offer.',
    params: Type.Object({ offer_id: Type.String({ description: 'The id of the offer, or its slug.' }) }),
    reply: OfferRequirements,
    errors: ['not_found'],
    cache: 'etag',
    handle: (ctx, caller, { params }) => readRequirements(ctx, caller, params.offer_id),
  }),
];
