import { invalidField } from '@causeway/service/kernel/errors.ts';
import { Closed, ObjectName } from '@causeway/service/kernel/wire.ts';
import { publicRoute } from '@causeway/service/platform/http/route.ts';
import Type from 'typebox';
import { FAULT_MODES, type FaultMode } from '../simulators/fault.ts';

/** The targets that `POST /sandbox/faults` accepts, each with the function that sets its fault. */
export type FaultTargets = Map<string, (mode: FaultMode, forSeconds?: number) => Promise<unknown>>;

const SetFault = Closed({
  target: Type.String({ maxLength: 100 }),
  mode: Type.Enum([...FAULT_MODES]),
  for_seconds: Type.Optional(Type.Number({ minimum: 0, maximum: 86_400 })),
});

export function faultRoute(targets: FaultTargets) {
  return publicRoute({
    method: 'POST',
    path: '/sandbox/faults',
    operationId: 'setFault',
    summary: "Make the service's calls to a provider or chain fail",
    body: SetFault,
    reply: Closed({ object: ObjectName('fault'), target: Type.String(), mode: Type.String() }),
    errors: ['validation_failed'],
    handle: async (_ctx, _caller, { body: { target, mode, for_seconds } }) => {
      const set = targets.get(target);
      if (set === undefined) throw invalidField('target', `must be one of ${[...targets.keys()].join(', ')}`);
      await set(mode, for_seconds);
      return { object: 'fault' as const, target, mode };
    },
  });
}

/** Builds the input for a simulator's fault control. */
export function faultInput(mode: FaultMode, forSeconds: number | undefined) {
  return { mode, ...(forSeconds !== undefined && { for_seconds: forSeconds }) };
}
