import type { Context } from '@causeway/service/context.ts';
import { ApiError, ERRORS, type ErrorCode } from '@causeway/service/errors.ts';
import { publicRoute } from '@causeway/service/http/route.ts';
import { Closed, Decimal, Nullable, ObjectName } from '@causeway/service/http/wire.ts';
import Type from 'typebox';
import { ControlError } from '../simulators/control.ts';
import type { Simulators } from '../simulators/start.ts';
import { MARKET_STATUSES, type VenueSetting } from '../simulators/venue/controls.ts';
import type { ControlGroup } from '../start.ts';

const Asset = Closed({
  paused: Type.Optional(Type.Boolean()),
  redeem_only: Type.Optional(Type.Boolean()),
  price: Type.Optional(Nullable(Decimal)),
  max_notional: Type.Optional(Nullable(Decimal)),
});
const Status = Nullable(Type.Enum([...MARKET_STATUSES]));

const SetVenue = Closed({
  session: Type.Optional(Status),
  assets: Type.Optional(Type.Record(Type.String({ maxLength: 32 }), Asset)),
});

const VenueView = Closed({
  object: ObjectName('venue'),
  session: Status,
  assets: Type.Record(
    Type.String(),
    Closed({
      paused: Type.Boolean(),
      redeem_only: Type.Boolean(),
      price: Nullable(Type.String()),
      max_notional: Nullable(Type.String()),
    }),
  ),
  attestations: Type.Integer(),
});

/** The control over the pricing venue, and its faults. */
export function venueControls({ control }: Simulators, ctx: Context): ControlGroup {
  return {
    routes: [
      publicRoute({
        method: 'POST',
        path: '/sandbox/venue',
        operationId: 'setVenue',
        summary: 'The state of the market',
        description:
          'What is left out stays as it is; `session` null goes by the calendar again, a null `price` or `max_notional` by the venue. The reply tells how many attestations were ever given.',
        body: SetVenue,
        reply: VenueView,
        errors: ['validation_failed'],
        handle: async (_ctx, _caller, { body }) => {
          const view = await passErrors(control.call('venue/set', body as VenueSetting));
          // Whoever has moved the market wants to see it moved.
          ctx.venue.clear();
          return { object: 'venue' as const, ...view };
        },
      }),
    ],
    faults: new Map([
      [
        'venue',
        async (mode, for_seconds) => {
          await control.call('venue/fault', { mode, ...(for_seconds !== undefined && { for_seconds }) });
          ctx.venue.clear();
        },
      ],
    ]),
  };
}

async function passErrors<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ControlError && error.code in ERRORS)
      throw new ApiError(error.code as ErrorCode, error.details, { message: error.message, cause: error });
    throw error;
  }
}
