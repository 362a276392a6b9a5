import { settleApplicant } from '@causeway/service/domain/identity/reconcile.ts';
import { LEVELS } from '@causeway/service/kernel/model/levels.ts';
import { Closed, Email, ObjectName } from '@causeway/service/kernel/wire.ts';
import { publicRoute } from '@causeway/service/platform/http/route.ts';
import { REVIEW_STATUSES } from '@causeway/service/platform/providers/identity.ts';
import Type from 'typebox';
import { Person } from '../simulators/identity/person.ts';
import type { SimulatorControl, Simulators } from '../simulators/start.ts';
import { withApiErrors } from './api-errors.ts';
import type { ControlGroup } from './control-group.ts';
import { faultInput } from './faults.ts';
import { requireUserByEmail } from './users.ts';

/** The controls for the simulated identity provider: its verification page, its reviews and its faults. */
export function identityControls({ control, identity }: Simulators): ControlGroup {
  return {
    overview: () => ({ identity_flow_url: `${identity.url}/flow?token={kyc_token}` }),
    routes: [reviewRoute(control)],
    faults: new Map([
      ['identity', (mode, forSeconds) => control.call('identity/fault', faultInput(mode, forSeconds))],
    ]),
  };
}

function reviewRoute({ call }: Pick<SimulatorControl, 'call'>) {
  return publicRoute({
    method: 'POST',
    path: '/sandbox/identity/reviews',
    operationId: 'moveReview',
    summary: "Decide a user's identity review, as a reviewer at the provider would",
    description:
      'Replies once the service has applied the decision. Without `pii`, a fictional person is verified.',
    body: Closed({
      email: Email,
      level_name: Type.Enum([...LEVELS]),
      review_status: Type.Optional(Type.Enum([...REVIEW_STATUSES])),
      answer: Type.Optional(Type.Enum(['GREEN', 'RED'])),
      reject_type: Type.Optional(Type.Enum(['RETRY', 'FINAL'])),
      pii: Type.Optional(Person),
    }),
    reply: Closed({
      object: ObjectName('identity_review'),
      applicant_id: Type.String(),
      level_name: Type.String(),
      review_status: Type.String(),
    }),
    errors: ['not_found', 'validation_failed', 'upstream_unavailable'],
    handle: async (ctx, _caller, { body: { email, ...review } }) => {
      const { id: user_id, kind } = await requireUserByEmail(ctx.db, email);
      const { applicant_id, delivered } = await withApiErrors(
        call('identity/review', { user_id, kind, email, ...review }),
      );
      if (delivered) await settleApplicant(ctx, user_id);
      return {
        object: 'identity_review' as const,
        applicant_id,
        level_name: review.level_name,
        review_status: review.review_status ?? 'completed',
      };
    },
  });
}
