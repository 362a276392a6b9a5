import { OfferParams } from '../../kernel/model/offer.ts';
import { OfferRequirements, RequirementStatuses } from '../../kernel/model/requirement.ts';
import { partnerRoute, userRoute } from '../../platform/http/route.ts';
import { readRequirements } from '../offers/offer.ts';
import { readStatuses } from './status.ts';

export const requirementRoutes = [
  partnerRoute('requirements:read', {
    method: 'GET',
    path: '/v1/offers/:offer_id/requirements',
    operationId: 'getRequirements',
    summary: 'Get the requirements of an offer',
    description: 'Returns the requirements that a user must meet, per option of the offer.',
    params: OfferParams,
    reply: OfferRequirements,
    errors: ['not_found'],
    cache: 'etag',
    handle: (ctx, caller, { params }) => readRequirements(ctx, caller, params.offer_id),
  }),
  userRoute('requirements:read', {
    method: 'GET',
    path: '/v1/offers/:offer_id/requirements/statuses',
    operationId: 'getRequirementStatuses',
    summary: "Get the user's requirement statuses",
    description:
      'Returns one map for all options of the offer, computed from stored data without calling a provider.',
    params: OfferParams,
    reply: RequirementStatuses,
    plainReply: true,
    errors: ['not_found'],
    handle: (ctx, caller, { params }) => readStatuses(ctx, caller, params.offer_id),
  }),
];
