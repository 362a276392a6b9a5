import { OfferParams } from '../../kernel/model/offer.ts';
import { userRoute } from '../../platform/http/route.ts';
import { readEligibility } from './dry-run.ts';
import { Eligibility, EligibilityQuery } from './schema.ts';

export const eligibilityRoutes = [
  userRoute('requirements:read', {
    method: 'GET',
    path: '/v1/offers/:offer_id/eligibility',
    operationId: 'getEligibility',
    summary: 'Explain whether the user can invest in an offer',
    description:
      'Returns, for each option of the offer, the result of every check that an investment would go through now. The same checks ' +
      'decide whether an investment is accepted. A refusal lists the checks that did not pass in `errors.checks`.',
    params: OfferParams,
    query: EligibilityQuery,
    reply: Eligibility,
    plainReply: true,
    errors: ['validation_failed', 'not_found', 'chain_not_supported'],
    handle: (ctx, caller, { params, query }) => readEligibility(ctx, caller, params.offer_id, query),
  }),
];
