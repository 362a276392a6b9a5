import Type from 'typebox';
import { partnerRoute, userRoute } from '../http/route.ts';
import { readRequirements } from '../offers/offer.ts';
import { OfferRequirements, RequirementStatuses } from './schema.ts';
import { readStatuses } from './statuses.ts';

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
  userRoute('requirements:read', {
    method: 'GET',
    path: '/v1/offers/:offer_id/requirements/statuses',
    operationId: 'getRequirementStatuses',
    summary: 'Read how far the user is with the requirements',
    description:
      'One map over all options of the offer. It is computed from what is known; no provider is asked.',
    params: Type.Object({ offer_id: Type.String({ description: 'The id of the offer, or its slug.' }) }),
    reply: RequirementStatuses,
    plainReply: true,
    errors: ['not_found'],
    handle: (ctx, caller, { params }) => readStatuses(ctx, caller, params.offer_id),
  }),
];
