import Type from 'typebox';
import type { Query } from '../../platform/http/query-string.ts';
import { partnerRoute, userRoute } from '../../platform/http/route.ts';
import {
  NewParticipation,
  Participation,
  ParticipationList,
  ParticipationPageQuery,
  ParticipationQuery,
} from '../holdings/participation.ts';
import { createParticipation } from './create.ts';
import { readParticipation, readParticipations } from './participation.ts';
import { FILTERS } from './selection.ts';

export const participationRoutes = [
  userRoute('participations:write', {
    method: 'POST',
    path: '/v1/participations',
    operationId: 'createParticipation',
    summary: 'Participate in a token sale',
    description:
      'Call this after the wallet has approved the fund to spend the amount. Repeating the request returns the same participation.',
    body: NewParticipation,
    reply: Participation,
    errors: [
      'not_found',
      'offer_ended',
      'offer_not_started',
      'offer_type_mismatch',
      'chain_not_supported',
      'requirements_not_met',
      'wallet_not_proven',
      'wallet_sanctioned',
      'sold_out',
      'too_many_prepared',
      'approval_already_used',
      'approval_invalid',
      'insufficient_allowance',
      'insufficient_balance',
      'contract_not_found',
      'contract_reverted',
      'upstream_error',
      'upstream_unavailable',
    ],
    handle: (ctx, caller, { body }) => createParticipation(ctx, caller, body),
  }),
  partnerRoute('participations:read', {
    method: 'GET',
    path: '/v1/participations',
    operationId: 'listParticipations',
    summary: 'List participations',
    description:
      "With a user token, returns the user's participations. With a partner token, returns those of all the partner's users. Filter by `offer_id`, `offer_option_id`, `user_id`, `status` and `user_email`.",
    query: ParticipationPageQuery,
    filters: FILTERS,
    reply: ParticipationList,
    handle: (ctx, caller, { query, request }) =>
      readParticipations(ctx, caller, query, request.query as Query),
  }),
  partnerRoute('participations:read', {
    method: 'GET',
    path: '/v1/participations/:id',
    operationId: 'getParticipation',
    summary: 'Get a participation',
    params: Type.Object({ id: Type.String() }),
    query: ParticipationQuery,
    reply: Participation,
    errors: ['not_found'],
    handle: (ctx, caller, { params, request }) =>
      readParticipation(ctx, caller, params.id, request.query as Query),
  }),
];
