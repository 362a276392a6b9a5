import { publicRoute } from '@causeway/service/http/route.ts';
import { requestRemit } from '@causeway/service/participations/remit.ts';
import { Participation } from '@causeway/service/participations/schema.ts';
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
