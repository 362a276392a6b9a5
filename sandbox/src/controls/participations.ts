import { publicRoute } from '@causeway/service/http/route.ts';
import type { OperatorKey } from '@causeway/service/operator/key.ts';
import { deriveSandboxKey } from '@causeway/service/operator/sandbox-keys.ts';
import { Participation } from '@causeway/service/participations/schema.ts';
import { requestRemit } from '@causeway/service/settlement/refund.ts';
import Type from 'typebox';

/** The key that has the roles on the embedded chains' funds. */
export function sandboxOperatorKey(): OperatorKey {
  return { kind: 'local', privateKey: Buffer.from(deriveSandboxKey('operator').slice(2), 'hex') };
}

export const participationControls = [
  publicRoute({
    method: 'POST',
    path: '/sandbox/participations/:id/remit',
    operationId: 'remitParticipation',
    summary: 'Asks for the refund of a participation, as an operator does',
    params: Type.Object({ id: Type.String() }),
    reply: Participation,
    errors: ['not_found', 'validation_failed'],
    handle: (ctx, _caller, { params }) => requestRemit(ctx, params.id),
  }),
];
