import Type from 'typebox';
import { ApiError } from '../../kernel/errors.ts';
import { Closed, ObjectName } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import { publicRoute } from '../../platform/http/route.ts';

const Health = Closed({ object: ObjectName('health'), status: Type.Literal('ok') }, { title: 'Health' });
const Readiness = Closed(
  {
    object: ObjectName('readiness'),
    status: Type.Enum(['ok', 'degraded'], {
      description: '`degraded` if the node is ready, but one of its dependencies is unavailable.',
    }),
    parts: Type.Record(Type.String(), Type.Enum(['ok', 'unavailable']), {
      examples: [{ database: 'ok', listener: 'ok' }],
    }),
  },
  { title: 'Readiness' },
);

export const healthRoutes = [
  publicRoute({
    method: 'GET',
    path: '/health',
    operationId: 'getHealth',
    summary: 'Check that the process is alive',
    reply: Health,
    handle: () => ({ object: 'health' as const, status: 'ok' as const }),
  }),
  publicRoute({
    method: 'GET',
    path: '/health/ready',
    operationId: 'getReadiness',
    summary: 'Check that this node can answer requests',
    description:
      'Reports the state of every dependency. Only the database and its notification connection decide whether the node is ready. If either is unavailable, or if the node is shutting down, the reply is 503 with the same `parts` in `errors`. `disk` is unavailable if the database cannot write because its disk is full, and `clock` if the clocks of this node and the database differ by more than 20 seconds. Results are cached for a second.',
    reply: Readiness,
    errors: ['unavailable'],
    handle: (ctx) => readReadiness(ctx),
  }),
];

async function readReadiness({ readiness }: Context) {
  const { isReady, parts } = await readiness.read();
  if (!isReady) throw new ApiError('unavailable', { parts }, { headers: { 'retry-after': '1' } });
  const isComplete = Object.values(parts).every((state) => state === 'ok');
  return {
    object: 'readiness' as const,
    status: isComplete ? ('ok' as const) : ('degraded' as const),
    parts,
  };
}
