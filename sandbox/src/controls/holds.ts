import { releaseHold } from '@causeway/service/domain/holdings/freeze.ts';
import { holdUser } from '@causeway/service/domain/users/hold.ts';
import { ApiError } from '@causeway/service/kernel/errors.ts';
import { isId } from '@causeway/service/kernel/ids.ts';
import { Closed, ObjectName } from '@causeway/service/kernel/wire.ts';
import { publicRoute } from '@causeway/service/platform/http/route.ts';
import Type from 'typebox';
import type { ControlGroup } from './control-group.ts';

const params = Type.Object({ id: Type.String() });
const body = Closed({ reason: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })) });
const reply = Closed({ object: ObjectName('user'), id: Type.String(), on_hold: Type.Boolean() });
const DEFAULT_REASON = 'sandbox control';

/** The equivalents of `causeway user hold` and `causeway user release`. */
export const holdControls: ControlGroup = {
  routes: [
    publicRoute({
      method: 'POST',
      path: '/sandbox/users/:id/hold',
      operationId: 'holdUser',
      summary: 'Put a user on hold, as an operator would',
      ...{ params, body, reply },
      errors: ['not_found', 'validation_failed'],
      handle: async (ctx, _caller, { params, body }) => {
        const { id } = await holdUser(ctx, requireId(params.id), body.reason ?? DEFAULT_REASON);
        return { object: 'user' as const, id, on_hold: true };
      },
    }),
    publicRoute({
      method: 'POST',
      path: '/sandbox/users/:id/release',
      operationId: 'releaseUser',
      summary: 'Release a user from hold, as an operator would',
      ...{ params, body, reply },
      errors: ['not_found', 'validation_failed'],
      handle: async (ctx, _caller, { params, body }) => {
        const { id } = await releaseHold(ctx, requireId(params.id), body.reason ?? DEFAULT_REASON);
        return { object: 'user' as const, id, on_hold: false };
      },
    }),
  ],
};

function requireId(id: string): string {
  if (!isId(id)) throw new ApiError('not_found');
  return id;
}
