import { type Static, Type } from 'typebox';
import { type Control, ControlError } from '../control.ts';
import { FAULT_MODES, type Fault, type FaultMode } from '../fault.ts';
import { ONE_SHOT_FAULTS, type OneShotFault, type OneShotFaults } from '../one-shot-faults.ts';
import { DELIVERY_MODES, type DeliveryMode, type WebhookSender } from '../webhook-sender.ts';
import { LEVELS } from './api.ts';
import type { ReviewResult } from './applicant.ts';
import type { Cases } from './cases.ts';
import { openFlow } from './flow-page.ts';
import { anyPerson, fillIn, isEmpty, Person } from './people.ts';

const literals = <T extends string>(values: readonly T[]) =>
  Type.Union(values.map((value) => Type.Literal(value)));

const STATUSES = [
  'init',
  'pending',
  'prechecked',
  'queued',
  'awaitingService',
  'awaitingUser',
  'onHold',
  'completed',
] as const;

const MoveReview = Type.Object({
  user_id: Type.String(),
  kind: literals(['person', 'company']),
  email: Type.String(),
  level_name: literals(LEVELS),
  review_status: Type.Optional(literals(STATUSES)),
  answer: Type.Optional(literals(['GREEN', 'RED'])),
  reject_type: Type.Optional(literals(['RETRY', 'FINAL'])),
  pii: Type.Optional(Person),
});
export type MoveReview = {
  user_id: string;
  kind: 'person' | 'company';
  email: string;
  level_name: string;
  review_status?: (typeof STATUSES)[number];
  answer?: 'GREEN' | 'RED';
  reject_type?: 'RETRY' | 'FINAL';
  pii?: Static<typeof Person>;
};

export type IdentityControls = {
  'identity/review': { input: MoveReview; output: { applicant_id: string; delivered: boolean } };
  'identity/webhook': { input: { url: string }; output: unknown };
  'identity/country': { input: { user_id: string; country: string }; output: unknown };
  'identity/send-webhook': {
    input: { user_id: string; type: string; more?: Record<string, unknown> };
    output: { delivered: boolean };
  };
  'identity/delivery': {
    input: { mode?: DeliveryMode; release?: boolean; stale_verdicts?: boolean };
    output: unknown;
  };
  'identity/one-shot-fault': { input: { fault: OneShotFault }; output: unknown };
  'identity/fault': { input: { mode: FaultMode; for_seconds?: number }; output: unknown };
};

export function addIdentityControls(
  control: Control,
  parts: { cases: Cases; sender: WebhookSender; fault: Fault; oneShotFaults: OneShotFaults },
): void {
  const { cases, sender, fault, oneShotFaults } = parts;
  control.on('identity/review', MoveReview, (input) => moveReview(cases, input as MoveReview));
  control.on('identity/webhook', Type.Object({ url: Type.String() }), async ({ url }) => sender.target(url));
  control.on(
    'identity/country',
    Type.Object({ user_id: Type.String(), country: Type.String({ pattern: '^[A-Z]{2}$' }) }),
    async (input) => {
      cases.state.countries[input.user_id] = input.country;
      await cases.save();
    },
  );
  control.on(
    'identity/send-webhook',
    Type.Object({
      user_id: Type.String(),
      type: Type.String(),
      more: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    async ({ user_id, type, more }) => {
      const applicant = cases.byUser(user_id);
      if (applicant === undefined) throw new ControlError('not_found', 'there is no such applicant');
      return { delivered: await cases.tell(applicant, type, more) };
    },
  );
  control.on(
    'identity/delivery',
    Type.Object({
      mode: Type.Optional(literals(DELIVERY_MODES)),
      release: Type.Optional(Type.Boolean()),
      stale_verdicts: Type.Optional(Type.Boolean()),
    }),
    async ({ mode, release, stale_verdicts }) => {
      if (stale_verdicts !== undefined) cases.staleVerdicts(stale_verdicts);
      if (mode !== undefined) sender.mode(mode as DeliveryMode);
      if (release === true) await sender.release();
    },
  );
  control.on('identity/one-shot-fault', Type.Object({ fault: literals(ONE_SHOT_FAULTS) }), async (input) =>
    oneShotFaults.set(input.fault as OneShotFault),
  );
  control.on(
    'identity/fault',
    Type.Object({ mode: literals(FAULT_MODES), for_seconds: Type.Optional(Type.Number({ minimum: 0 })) }),
    async ({ mode, for_seconds }) => fault.set(mode as FaultMode, for_seconds),
  );
}

/** What a person and an officer would do: open the flow, send the data, decide. */
async function moveReview(cases: Cases, input: MoveReview) {
  const { user_id: userId, kind, email, level_name: levelName, pii } = input;
  const status = input.review_status ?? 'completed';
  if (status === 'completed' && input.answer === undefined)
    throw new ControlError('validation_failed', 'a verdict needs an answer', { answer: ['is required'] });
  const applicant = await openFlow(
    cases,
    { userId, levelName, email },
    kind === 'company' ? 'company' : 'individual',
  );
  // An officer can do what the flow cannot: take a case that is under review to another level.
  if (applicant.levelName !== levelName) await cases.changeLevel(applicant, levelName);
  if (pii !== undefined) fillIn(applicant, pii);
  else if (isEmpty(applicant.fixedInfo) && isEmpty(applicant.info))
    fillIn(applicant, anyPerson(kind, cases.state.countries[userId] ?? 'DE'));
  if (status === 'init') return { applicant_id: applicant.id, delivered: await cases.reset(applicant) };
  const delivered = await cases.move(applicant, status, status === 'completed' ? verdict(input) : undefined);
  return { applicant_id: applicant.id, delivered };
}

function verdict({ answer, reject_type: rejectType = 'RETRY' }: MoveReview): ReviewResult {
  if (answer === 'GREEN') return { reviewAnswer: 'GREEN' };
  const rejectLabels = [rejectType === 'FINAL' ? 'FORGERY' : 'UNSATISFACTORY_PHOTOS'];
  return { reviewAnswer: 'RED', reviewRejectType: rejectType, rejectLabels };
}
