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

/**
 * Changes applicants and sends the resulting webhooks. Changes take effect immediately. Each `Promise<boolean>`
 * resolves to whether the first delivery attempt was accepted (see `WebhookSender.send`).
 */
export type Applicants = {
  state: IdentityState;
  findById(id: string): Applicant | undefined;
  findByUser(userId: string): Applicant | undefined;
  create(input: NewApplicant): { applicant: Applicant; notified: Promise<boolean> };
  setStatus(applicant: Applicant, status: ReviewStatus, result?: ReviewResult): Promise<boolean>;
  changeLevel(applicant: Applicant, levelName: string): Promise<boolean>;
  reset(applicant: Applicant): Promise<boolean>;
  /** Sends a webhook of any type. */
  notify(applicant: Applicant, type: string, extra?: Record<string, unknown>): Promise<boolean>;
  /**
   * Sets whether the webhook about a reset contains the verdict from before the reset, as the real provider's webhook
   * sometimes does.
   */
  sendStaleVerdicts(isOn: boolean): void;
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

export function createApplicants(
  file: JsonFile<IdentityState>,
  sender: WebhookSender,
  now: () => number,
  appToken: string,
): Applicants {
  const { applicants } = file.data;
  let hasStaleVerdicts = false;

  const notify: Applicants['notify'] = (applicant, type, extra = {}) => {
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
        // As with the real provider, the prefix of the app token shows whether the token is for the sandbox.
        sandboxMode: appToken.startsWith('sbx:'),
        reviewStatus,
        ...(reviewResult === undefined ? {} : { reviewResult }),
        clientId: CLIENT_ID,
        createdAt: `${wireTime(now())}+0000`,
        createdAtMs: time.slice(0, 23).replace('T', ' '),
        ...extra,
      }),
    );
  };
  const clearReview = (applicant: Applicant) => {
    applicant.reviewStatus = 'init';
    delete applicant.reviewResult;
    delete applicant.reviewDate;
  };

  return {
    state: file.data,
    save: file.save,
    notify,
    findById: (wanted) => applicants.find(({ id }) => id === wanted),
    findByUser: (userId) => applicants.find(({ externalUserId }) => externalUserId === userId),
    sendStaleVerdicts: (isOn) => {
      hasStaleVerdicts = isOn;
    },
    create: (input) => {
      const applicant: Applicant = {
        ...input,
        id: randomBytes(12).toString('hex'),
        createdAt: wireTime(now()),
        info: {},
        fixedInfo: {},
        attemptCnt: 0,
        reviewStatus: 'init',
      };
      applicants.push(applicant);
      return { applicant, notified: file.save().then(() => notify(applicant, 'applicantCreated')) };
    },
    setStatus: async (applicant, status, result) => {
      clearReview(applicant);
      applicant.reviewStatus = status;
      if (status === 'pending') applicant.attemptCnt += 1;
      if (status === 'completed' && result !== undefined) {
        applicant.reviewResult = result;
        applicant.reviewDate = `${wireTime(now())}+0000`;
      }
      await file.save();
      return notify(applicant, EVENTS[status]);
    },
    changeLevel: async (applicant, levelName) => {
      const previousLevelName = applicant.levelName;
      clearReview(applicant);
      applicant.levelName = levelName;
      await file.save();
      return notify(applicant, 'applicantLevelChanged', { previousLevelName });
    },
    reset: async (applicant) => {
      const previousResult = applicant.reviewResult;
      clearReview(applicant);
      await file.save();
      const isStale = hasStaleVerdicts && previousResult !== undefined;
      return notify(applicant, 'applicantReset', isStale ? { reviewResult: previousResult } : {});
    },
  };
}
