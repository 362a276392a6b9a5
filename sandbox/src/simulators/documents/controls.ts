import { Type } from 'typebox';
import { type Control, ControlError } from '../control.ts';
import { FAULT_MODES, type Fault, type FaultMode } from '../fault.ts';
import { ONE_SHOT_FAULTS, type OneShotFault, type OneShotFaults } from '../one-shot-faults.ts';
import { DELIVERY_MODES, type DeliveryMode, type WebhookSender } from '../webhook-sender.ts';
import type { Office } from './office.ts';
import type { SentMail } from './submission.ts';

export const DOCUMENT_ACTIONS = ['view', 'sign', 'decline', 'expire'] as const;
export type DocumentAction = (typeof DOCUMENT_ACTIONS)[number];

export type DocumentControls = {
  'documents/act': { input: { external_id: string; action: DocumentAction }; output: { delivered: boolean } };
  'documents/webhook': { input: { url: string }; output: unknown };
  'documents/mails': { input: { to?: string }; output: { mails: SentMail[] } };
  'documents/delivery': { input: { mode?: DeliveryMode; release?: boolean }; output: unknown };
  'documents/one-shot-fault': { input: { fault: OneShotFault }; output: unknown };
  'documents/fault': { input: { mode: FaultMode; for_seconds?: number }; output: unknown };
};

const literals = <T extends string>(values: readonly T[]) =>
  Type.Union(values.map((value) => Type.Literal(value)));

export function addSigningControls(
  control: Control,
  {
    office,
    sender,
    fault,
    oneShotFaults,
  }: { office: Office; sender: WebhookSender; fault: Fault; oneShotFaults: OneShotFaults },
): void {
  control.on(
    'documents/act',
    Type.Object({ external_id: Type.String(), action: literals(DOCUMENT_ACTIONS) }),
    ({ external_id, action }) => act(office, external_id, action as DocumentAction),
  );
  control.on('documents/webhook', Type.Object({ url: Type.String() }), async ({ url }) => sender.target(url));
  control.on('documents/mails', Type.Object({ to: Type.Optional(Type.String()) }), async ({ to }) => ({
    mails: office.state.mails.filter((mail) => to === undefined || mail.to === to).reverse(),
  }));
  control.on(
    'documents/delivery',
    Type.Object({ mode: Type.Optional(literals(DELIVERY_MODES)), release: Type.Optional(Type.Boolean()) }),
    async ({ mode, release }) => {
      if (mode !== undefined) sender.mode(mode as DeliveryMode);
      if (release === true) await sender.release();
    },
  );
  control.on('documents/one-shot-fault', Type.Object({ fault: literals(ONE_SHOT_FAULTS) }), async (input) =>
    oneShotFaults.set(input.fault as OneShotFault),
  );
  control.on(
    'documents/fault',
    Type.Object({ mode: literals(FAULT_MODES), for_seconds: Type.Optional(Type.Number({ minimum: 0 })) }),
    async ({ mode, for_seconds }) => fault.set(mode as FaultMode, for_seconds),
  );
}

async function act(office: Office, externalId: string, action: DocumentAction) {
  const submission = office.state.submissions.findLast((one) => one.external_id === externalId);
  if (submission === undefined) throw new ControlError('not_found', 'there is no such submission');
  if (!office.isOpen(submission))
    throw new ControlError('validation_failed', 'the form is not open', { action: ['the form is not open'] });
  switch (action) {
    case 'view':
      return { delivered: await office.view(submission) };
    case 'sign':
      return { delivered: await office.sign(submission, {}) };
    case 'decline':
      return { delivered: await office.decline(submission, 'declined in the sandbox') };
    case 'expire':
      return { delivered: await office.expire(submission) };
  }
}
