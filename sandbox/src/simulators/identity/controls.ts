import { type Static, Type } from 'typebox';
import { type Control, ControlError } from '../control.ts';
import { type Fault, FaultInput, type FaultMode } from '../fault.ts';
import { ONE_SHOT_FAULTS, type OneShotFault, type OneShotFaults } from '../one-shot-faults.ts';
import { DELIVERY_MODES, type DeliveryMode, type WebhookSender } from '../webhook-sender.ts';
import { LEVELS } from './api.ts';
import type { ReviewResult, ReviewStatus } from './applicant.ts';
import type { Applicants } from './applicants.ts';
import { openFlow } from './flow.ts';
import { DEFAULT_COUNTRY, examplePerson, isEmpty, Person, setPerson } from './person.ts';

const STATUSES = [
  'init',
  'pending',
  'prechecked',
  'queued',
  'awaitingService',
  'awaitingUser',
  'onHold',
  'completed',
] as const satisfies ReviewStatus[];

const MoveReview = Type.Object({
  user_id: Type.String(),
  kind: Type.Enum(['person', 'company']),
  email: Type.String(),
  level_name: Type.Enum([...LEVELS]),
  review_status: Type.Optional(Type.Enum([...STATUSES])),
  answer: Type.Optional(Type.Enum(['GREEN', 'RED'])),
  reject_type: Type.Optional(Type.Enum(['RETRY', 'FINAL'])),
  pii: Type.Optional(Person),
});
export type MoveReview = Static<typeof MoveReview>;

export type IdentityControls = {
  'identity/review': { input: MoveReview; output: { applicant_id: string; delivered: boolean } };
  'identity/webhook': { input: { url: string }; output: unknown };
  'identity/country': { input: { user_id: string; country: string }; output: unknown };
  'identity/send-webhook': {
    input: { user_id: string; type: string; more?: Record<string, unknown> };
    output: { delivered: boolean };
  };
  'identity/info': {
    input: { user_id: string; info: Record<string, unknown> };
    output: { delivered: boolean };
  };
  'identity/delivery': {
    input: { mode?: DeliveryMode; release?: boolean; stale_verdicts?: boolean };
    output: unknown;
  };
  'identity/one-shot-fault': { input: { fault: OneShotFault }; output: unknown };
  'identity/fault': { input: { mode: FaultMode; for_seconds?: number }; output: unknown };
};

type Parts = { applicants: Applicants; sender: WebhookSender; fault: Fault; oneShotFaults: OneShotFaults };

export function addIdentityControls(
  control: Control,
  { applicants, sender, fault, oneShotFaults }: Parts,
): void {
  control.on('identity/review', MoveReview, (input) => moveReview(applicants, input));
  control.on('identity/webhook', Type.Object({ url: Type.String() }), async ({ url }) => sender.setUrl(url));
  control.on(
    'identity/country',
    Type.Object({ user_id: Type.String(), country: Type.String({ pattern: '^[A-Z]{2}$' }) }),
    async (input) => {
      applicants.state.countries[input.user_id] = input.country;
      await applicants.save();
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
      const applicant = applicants.findByUser(user_id);
      if (applicant === undefined) throw new ControlError('not_found', 'there is no such applicant');
      return { delivered: await applicants.notify(applicant, type, more) };
    },
  );
  control.on(
    'identity/info',
    Type.Object({ user_id: Type.String(), info: Type.Record(Type.String(), Type.Unknown()) }),
    async ({ user_id, info }) => {
      const applicant = applicants.findByUser(user_id);
      if (applicant === undefined) throw new ControlError('not_found', 'there is no such applicant');
      Object.assign(applicant.info, info);
      await applicants.save();
      return { delivered: await applicants.notify(applicant, 'applicantPersonalInfoChanged') };
    },
  );
  control.on(
    'identity/delivery',
    Type.Object({
      mode: Type.Optional(Type.Enum([...DELIVERY_MODES])),
      release: Type.Optional(Type.Boolean()),
      stale_verdicts: Type.Optional(Type.Boolean()),
    }),
    async ({ mode, release, stale_verdicts }) => {
      if (stale_verdicts !== undefined) applicants.sendStaleVerdicts(stale_verdicts);
      if (mode !== undefined) sender.setMode(mode);
      if (release === true) await sender.release();
    },
  );
  control.on(
    'identity/one-shot-fault',
    Type.Object({ fault: Type.Enum([...ONE_SHOT_FAULTS]) }),
    async (input) => oneShotFaults.set(input.fault),
  );
  control.on('identity/fault', FaultInput, async ({ mode, for_seconds }) => fault.set(mode, for_seconds));
}

/** Acts as the user and the reviewer: opens the flow, submits the data and decides the review. */
async function moveReview(applicants: Applicants, input: MoveReview) {
  const { user_id: userId, kind, email, level_name: levelName, pii } = input;
  const status = input.review_status ?? 'completed';
  if (status === 'completed' && input.answer === undefined)
    throw new ControlError('validation_failed', 'a completed review requires an answer', {
      answer: ['is required'],
    });
  const applicant = await openFlow(
    applicants,
    { userId, levelName, email },
    kind === 'company' ? 'company' : 'individual',
  );
  // Unlike the user in the flow, a reviewer can change the level of an applicant under review.
  if (applicant.levelName !== levelName) await applicants.changeLevel(applicant, levelName);
  if (pii !== undefined) setPerson(applicant, pii);
  else if (isEmpty(applicant.fixedInfo) && isEmpty(applicant.info))
    setPerson(applicant, examplePerson(kind, applicants.state.countries[userId] ?? DEFAULT_COUNTRY));
  if (status === 'init') return { applicant_id: applicant.id, delivered: await applicants.reset(applicant) };
  const result = status === 'completed' ? reviewResult(input) : undefined;
  return { applicant_id: applicant.id, delivered: await applicants.setStatus(applicant, status, result) };
}

function reviewResult({ answer, reject_type: rejectType = 'RETRY' }: MoveReview): ReviewResult {
  if (answer === 'GREEN') return { reviewAnswer: 'GREEN' };
  const rejectLabels = [rejectType === 'FINAL' ? 'FORGERY' : 'UNSATISFACTORY_PHOTOS'];
  return { reviewAnswer: 'RED', reviewRejectType: rejectType, rejectLabels };
}
