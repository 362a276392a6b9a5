import { Closed, Decimal, Nullable, ObjectName } from '@causeway/service/kernel/wire.ts';
import type { Context } from '@causeway/service/platform/context/context.ts';
import { publicRoute } from '@causeway/service/platform/http/route.ts';
import Type from 'typebox';
import type { Simulators } from '../simulators/start.ts';
import { MARKET_STATUSES, type VenueSetting } from '../simulators/venue/controls.ts';
import { withApiErrors } from './api-errors.ts';
import type { ControlGroup } from './control-group.ts';
import { faultInput } from './faults.ts';

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

/** The controls for the simulated pricing venue: its market state and its faults. */
export function venueControls(ctx: Context, { control }: Simulators): ControlGroup {
  return {
    routes: [
      publicRoute({
        method: 'POST',
        path: '/sandbox/venue',
        operationId: 'setVenue',
        summary: 'Set the market state',
        description:
          "Omitted fields keep their values. With a null `session`, the venue follows the calendar again. A null `price` or `max_notional` restores the venue's own value. A price that you set stays fixed. `attestations` counts all attestations ever issued.",
        body: SetVenue,
        reply: VenueView,
        errors: ['validation_failed'],
        handle: async (_ctx, _caller, { body }) => {
          const view = await withApiErrors(control.call('venue/set', body as VenueSetting));
          ctx.venue.clear();
          return { object: 'venue' as const, ...view };
        },
      }),
    ],
    faults: new Map([
      [
        'venue',
        async (mode, forSeconds) => {
          await control.call('venue/fault', faultInput(mode, forSeconds));
          ctx.venue.clear();
        },
      ],
    ]),
  };
}
