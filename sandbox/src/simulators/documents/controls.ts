import { Type } from 'typebox';
import { type Control, ControlError } from '../control.ts';
import { type Fault, FaultInput, type FaultMode } from '../fault.ts';
import { ONE_SHOT_FAULTS, type OneShotFault, type OneShotFaults } from '../one-shot-faults.ts';
import { DELIVERY_MODES, type DeliveryMode, type WebhookSender } from '../webhook-sender.ts';
import type { SentMail } from './submission.ts';
import type { Submissions } from './submissions.ts';

export const DOCUMENT_ACTIONS = ['view', 'sign', 'decline', 'expire'] as const;
export type DocumentAction = (typeof DOCUMENT_ACTIONS)[number];

export type DocumentControls = {
  'documents/act': {
    input: { external_id: string; action: DocumentAction };
    output: { delivered: boolean };
  };
  'documents/webhook': { input: { url: string }; output: unknown };
  'documents/mails': { input: { to?: string }; output: { mails: SentMail[] } };
  'documents/delivery': { input: { mode?: DeliveryMode; release?: boolean }; output: unknown };
  'documents/one-shot-fault': { input: { fault: OneShotFault }; output: unknown };
  'documents/fault': { input: { mode: FaultMode; for_seconds?: number }; output: unknown };
};

type Parts = { submissions: Submissions; sender: WebhookSender; fault: Fault; oneShotFaults: OneShotFaults };

export function addDocumentControls(
  control: Control,
  { submissions, sender, fault, oneShotFaults }: Parts,
): void {
  control.on(
    'documents/act',
    Type.Object({ external_id: Type.String(), action: Type.Enum([...DOCUMENT_ACTIONS]) }),
    ({ external_id, action }) => act(submissions, external_id, action),
  );
  control.on('documents/webhook', Type.Object({ url: Type.String() }), async ({ url }) => sender.setUrl(url));
  control.on('documents/mails', Type.Object({ to: Type.Optional(Type.String()) }), async ({ to }) => ({
    mails: submissions.state.mails.filter((mail) => to === undefined || mail.to === to).reverse(),
  }));
  control.on(
    'documents/delivery',
    Type.Object({
      mode: Type.Optional(Type.Enum([...DELIVERY_MODES])),
      release: Type.Optional(Type.Boolean()),
    }),
    async ({ mode, release }) => {
      if (mode !== undefined) sender.setMode(mode);
      if (release === true) await sender.release();
    },
  );
  control.on(
    'documents/one-shot-fault',
    Type.Object({ fault: Type.Enum([...ONE_SHOT_FAULTS]) }),
    async (input) => oneShotFaults.set(input.fault),
  );
  control.on('documents/fault', FaultInput, async ({ mode, for_seconds }) => fault.set(mode, for_seconds));
}

async function act(submissions: Submissions, externalId: string, action: DocumentAction) {
  const submission = submissions.state.submissions.findLast((one) => one.external_id === externalId);
  if (submission === undefined) throw new ControlError('not_found', 'there is no such submission');
  if (!submissions.isOpen(submission))
    throw new ControlError('validation_failed', 'the form is no longer open', {
      action: ['the form was already signed, declined or archived, or has expired'],
    });
  switch (action) {
    case 'view':
      return { delivered: await submissions.view(submission) };
    case 'sign':
      return { delivered: await submissions.sign(submission, {}) };
    case 'decline':
      return { delivered: await submissions.decline(submission, 'declined in the sandbox') };
    case 'expire':
      return { delivered: await submissions.expire(submission) };
  }
}
