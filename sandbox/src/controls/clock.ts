import type { TestClock } from '@causeway/service/kernel/clock.ts';
import { invalidField } from '@causeway/service/kernel/errors.ts';
import { Closed, ObjectName, Timestamp, toTimestamp } from '@causeway/service/kernel/wire.ts';
import type { Context } from '@causeway/service/platform/context/context.ts';
import { publicRoute } from '@causeway/service/platform/http/route.ts';
import Type, { type Static } from 'typebox';
import type { Simulators } from '../simulators/start.ts';
import type { ControlGroup } from './control-group.ts';

const MoveClock = Closed({
  advance_seconds: Type.Optional(Type.Number({ minimum: 0, maximum: 1e10 })),
  set_to: Type.Optional(Timestamp),
});

/**
 * The latest time that the clock can be set to. The API's timestamps have four-digit years, so this limit leaves room
 * for timestamps later than the clock.
 */
const MAX_TIME_MS = Date.parse('9000-01-01T00:00:00Z');

/** The test clock that the service and the simulators use. `store` keeps its time for the next start. */
export function clockControls(
  { control }: Simulators,
  store: (nowMs: number) => Promise<void>,
): ControlGroup {
  return {
    routes: [
      publicRoute({
        method: 'POST',
        path: '/sandbox/clock',
        operationId: 'moveClock',
        summary: 'Move the test clock',
        description:
          'The market is always open until you use `set_to`. From then on, it follows trading hours.',
        body: MoveClock,
        reply: Closed({ object: ObjectName('clock'), now: Timestamp }),
        errors: ['validation_failed'],
        handle: async (ctx, _caller, { body }) => {
          const clock = moveClock(ctx, body);
          const nowMs = ctx.clock.now();
          await store(nowMs);
          await control.call('clock/set', { now_ms: nowMs, running: false });
          if (body.set_to !== undefined) await control.call('venue/calendar', {});
          return clock;
        },
      }),
    ],
  };
}

function moveClock(ctx: Context, { advance_seconds, set_to }: Static<typeof MoveClock>) {
  if (!('set' in ctx.clock))
    throw invalidField('clock', 'follows real time; start with CAUSEWAY_CLOCK=test to move it');
  if ((advance_seconds === undefined) === (set_to === undefined)) {
    throw invalidField('advance_seconds', 'exactly one of advance_seconds and set_to is required');
  }
  const clock = ctx.clock as TestClock;
  const target = set_to === undefined ? clock.now() + (advance_seconds ?? 0) * 1000 : Date.parse(set_to);
  if (target > MAX_TIME_MS) throw invalidField('set_to', 'is too far in the future');
  clock.set(target);
  return { object: 'clock' as const, now: toTimestamp(Math.floor(clock.now() * 1000)) };
}
