import Type from 'typebox';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { publicRoute } from '../http/route.ts';
import { Closed, ObjectName } from '../http/wire.ts';

const CHECK_TIMEOUT_MS = 2_000;

const Health = Closed({ object: ObjectName('health'), status: Type.Literal('ok') }, { title: 'Health' });
const Readiness = Closed(
  {
    object: ObjectName('readiness'),
    status: Type.Literal('ok'),
    parts: Type.Record(Type.String(), Type.Literal('ok')),
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
    summary: 'Check that all dependencies are available',
    reply: Readiness,
    errors: ['upstream_unavailable'],
    handle: (ctx) => checkReadiness(ctx),
  }),
];

async function checkReadiness(ctx: Context) {
  const results = await Promise.all(
    [...ctx.checks].map(async ([name, check]) => [name, await runCheck(check)] as const),
  );
  const failed = results.filter(([, error]) => error !== null);
  if (failed.length > 0) {
    for (const [name, err] of failed) ctx.log.warn({ err, part: name }, 'readiness check failed');
    throw new ApiError(
      'upstream_unavailable',
      { upstream: failed.map(([name]) => name) },
      { headers: { 'retry-after': '1' } },
    );
  }
  const parts = Object.fromEntries(results.map(([name]) => [name, 'ok' as const]));
  return { object: 'readiness' as const, status: 'ok' as const, parts };
}

/** Returns the error of the check, or null. */
async function runCheck(check: () => Promise<void>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no response within ${CHECK_TIMEOUT_MS} ms`)),
      CHECK_TIMEOUT_MS,
    );
  });
  try {
    await Promise.race([check(), timeout]);
    return null;
  } catch (error) {
    return error;
  } finally {
    clearTimeout(timer);
  }
}
