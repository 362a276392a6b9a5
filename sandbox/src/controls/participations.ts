import { Participation } from '@causeway/service/domain/holdings/participation.ts';
import { requestRemit } from '@causeway/service/domain/participations/refunds.ts';
import { publicRoute } from '@causeway/service/platform/http/route.ts';
import Type from 'typebox';
import type { ControlGroup } from './control-group.ts';

export const participationControls: ControlGroup = {
  routes: [
    publicRoute({
      method: 'POST',
      path: '/sandbox/participations/:id/remit',
      operationId: 'remitParticipation',
      summary: 'Request a refund of a participation, as an operator would',
      params: Type.Object({ id: Type.String() }),
      reply: Participation,
      errors: ['not_found', 'validation_failed'],
      handle: (ctx, _caller, { params }) => requestRemit(ctx, params.id),
    }),
  ],
};
