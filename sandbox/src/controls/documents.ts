import { DOCUMENT_TYPES } from '@causeway/service/domain/documents/submission.ts';
import { invalidField } from '@causeway/service/kernel/errors.ts';
import { Closed, Email, ObjectName } from '@causeway/service/kernel/wire.ts';
import type { Context } from '@causeway/service/platform/context/context.ts';
import { publicRoute } from '@causeway/service/platform/http/route.ts';
import Type from 'typebox';
import { DOCUMENT_ACTIONS } from '../simulators/documents/controls.ts';
import type { SimulatorControl, Simulators } from '../simulators/start.ts';
import { withApiErrors } from './api-errors.ts';
import type { ControlGroup } from './control-group.ts';
import { faultInput } from './faults.ts';
import { findLatestSubmission } from './store.ts';
import { requireUserByEmail } from './users.ts';

/** The controls for the simulated documents provider: its mail page, its faults and the signer's actions. */
export function documentControls({ control, documents }: Simulators): ControlGroup {
  return {
    overview: () => ({ signing_mails_url: documents.page_url }),
    routes: [actionRoute(control)],
    faults: new Map([
      ['documents', (mode, forSeconds) => control.call('documents/fault', faultInput(mode, forSeconds))],
    ]),
  };
}

function actionRoute({ call }: Pick<SimulatorControl, 'call'>) {
  return publicRoute({
    method: 'POST',
    path: '/sandbox/documents/actions',
    operationId: 'actOnDocument',
    summary: 'View, sign, decline or expire the latest form sent to a user',
    body: Closed({
      email: Email,
      document_type: Type.Enum([...DOCUMENT_TYPES]),
      action: Type.Enum([...DOCUMENT_ACTIONS]),
    }),
    reply: Closed({
      object: ObjectName('document_submission'),
      form_type: Type.String(),
      status: Type.String(),
    }),
    errors: ['not_found', 'validation_failed'],
    handle: async (ctx, _caller, { body: { email, document_type, action } }) => {
      const { id: userId } = await requireUserByEmail(ctx.db, email);
      const { id: external_id } = await requireSubmission(ctx, userId, document_type);
      await withApiErrors(call('documents/act', { external_id, action }));
      const { form_type, status } = await requireSubmission(ctx, userId, document_type);
      return { object: 'document_submission' as const, form_type, status };
    },
  });
}

async function requireSubmission({ db }: Context, userId: string, documentType: string) {
  const submission = await findLatestSubmission(db, userId, documentType);
  if (submission === undefined)
    throw invalidField('document_type', 'no form of this type was sent to the user');
  return submission;
}
