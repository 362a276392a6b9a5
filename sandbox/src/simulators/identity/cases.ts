import { randomBytes, randomUUID } from 'node:crypto';
import type { JsonFile } from '../json-file.ts';
import type { WebhookSender } from '../webhook-sender.ts';
import {
  type Applicant,
  CLIENT_ID,
  type IdentityState,
  type ReviewResult,
  type ReviewStatus,
  wireTime,
} from './applicant.ts';

type NewApplicant = Pick<Applicant, 'externalUserId' | 'type' | 'levelName' | 'email'>;

/** The provider's case work: every change of an applicant, and the webhook that tells of it. */
export type Cases = {
  state: IdentityState;
  byId(id: string): Applicant | undefined;
  byUser(userId: string): Applicant | undefined;
  create(input: NewApplicant): { applicant: Applicant; told: Promise<boolean> };
  /** These change the applicant at once and resolve when the first delivery of the webhook was accepted or not. */
  move(applicant: Applicant, status: ReviewStatus, result?: ReviewResult): Promise<boolean>;
  changeLevel(applicant: Applicant, levelName: string): Promise<boolean>;
  reset(applicant: Applicant): Promise<boolean>;
  /** Tells of anything else. */
  tell(applicant: Applicant, type: string, more?: Record<string, unknown>): Promise<boolean>;
  /** After a reset the verdict that is gone still stands in the webhook, as it has been seen to. */
  staleVerdicts(isOn: boolean): void;
  save(): Promise<void>;
};

const EVENTS: Record<ReviewStatus, string> = {
  init: 'applicantReset',
  pending: 'applicantPending',
  prechecked: 'applicantPrechecked',
  queued: 'applicantPrechecked',
  awaitingService: 'applicantAwaitingService',
  awaitingUser: 'applicantAwaitingUser',
  onHold: 'applicantOnHold',
  completed: 'applicantReviewed',
};

export function createCases(file: JsonFile<IdentityState>, sender: WebhookSender, now: () => number): Cases {
  const { applicants } = file.data;
  let hasStaleVerdicts = false;

  const tell: Cases['tell'] = (applicant, type, more = {}) => {
    const { id, externalUserId, levelName, reviewStatus, reviewResult } = applicant;
    const time = new Date(now()).toISOString();
    return sender.send(
      JSON.stringify({
        applicantId: id,
        inspectionId: `${id.slice(0, 23)}0`,
        correlationId: randomUUID(),
        externalUserId,
        levelName,
        applicantType: applicant.type,
        type,
        sandboxMode: true,
        reviewStatus,
        ...(reviewResult === undefined ? {} : { reviewResult }),
        clientId: CLIENT_ID,
        createdAt: `${wireTime(now())}+0000`,
        createdAtMs: time.slice(0, 23).replace('T', ' '),
        ...more,
      }),
    );
  };
  const clear = (applicant: Applicant) => {
    applicant.reviewStatus = 'init';
    delete applicant.reviewResult;
    delete applicant.reviewDate;
  };

  return {
    state: file.data,
    save: file.save,
    tell,
    byId: (id) => applicants.find((one) => one.id === id),
    byUser: (userId) => applicants.find((one) => one.externalUserId === userId),
    staleVerdicts: (isOn) => {
      hasStaleVerdicts = isOn;
    },
    create: (input) => {
      const id = randomBytes(12).toString('hex');
      const applicant: Applicant = {
        ...input,
        id,
        createdAt: wireTime(now()),
        info: {},
        fixedInfo: {},
        attemptCnt: 0,
        reviewStatus: 'init',
      };
      applicants.push(applicant);
      return { applicant, told: file.save().then(() => tell(applicant, 'applicantCreated')) };
    },
    move: async (applicant, status, result) => {
      clear(applicant);
      applicant.reviewStatus = status;
      if (status === 'pending') applicant.attemptCnt += 1;
      if (status === 'completed' && result !== undefined) {
        applicant.reviewResult = result;
        applicant.reviewDate = `${wireTime(now())}+0000`;
      }
      await file.save();
      return tell(applicant, EVENTS[status]);
    },
    changeLevel: async (applicant, levelName) => {
      const previousLevelName = applicant.levelName;
      clear(applicant);
      applicant.levelName = levelName;
      await file.save();
      return tell(applicant, 'applicantLevelChanged', { previousLevelName });
    },
    reset: async (applicant) => {
      const before = applicant.reviewResult;
      clear(applicant);
      await file.save();
      const stale = hasStaleVerdicts && before !== undefined ? { reviewResult: before } : {};
      return tell(applicant, 'applicantReset', stale);
    },
  };
}
