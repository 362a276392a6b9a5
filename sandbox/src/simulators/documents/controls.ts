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
  'signing/act': { input: { external_id: string; action: DocumentAction }; output: { delivered: boolean } };
  'signing/webhook': { input: { url: string }; output: unknown };
  'signing/mails': { input: { to?: string }; output: { mails: SentMail[] } };
  'signing/delivery': { input: { mode?: DeliveryMode; release?: boolean }; output: unknown };
  'signing/quirk': { input: { quirk: OneShotFault }; output: unknown };
  'signing/fault': { input: { mode: FaultMode; for_seconds?: number }; output: unknown };
};

const literals = <T extends string>(values: readonly T[]) =>
  Type.Union(values.map((value) => Type.Literal(value)));

export function addSigningControls(
  control: Control,
  {
    office,
    sender,
    fault,
    quirks,
  }: { office: Office; sender: WebhookSender; fault: Fault; quirks: OneShotFaults },
): void {
  control.on(
    'signing/act',
    Type.Object({ external_id: Type.String(), action: literals(DOCUMENT_ACTIONS) }),
    ({ external_id, action }) => act(office, external_id, action as DocumentAction),
  );
  control.on('signing/webhook', Type.Object({ url: Type.String() }), async ({ url }) => sender.target(url));
  control.on('signing/mails', Type.Object({ to: Type.Optional(Type.String()) }), async ({ to }) => ({
    mails: office.state.mails.filter((mail) => to === undefined || mail.to === to).reverse(),
  }));
  control.on(
    'signing/delivery',
    Type.Object({ mode: Type.Optional(literals(DELIVERY_MODES)), release: Type.Optional(Type.Boolean()) }),
    async ({ mode, release }) => {
      if (mode !== undefined) sender.mode(mode as DeliveryMode);
      if (release === true) await sender.release();
    },
  );
  control.on('signing/quirk', Type.Object({ quirk: literals(ONE_SHOT_FAULTS) }), async ({ quirk }) =>
    quirks.set(quirk as OneShotFault),
  );
  control.on(
    'signing/fault',
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
