import type { Level } from '../../kernel/model/levels.ts';
import type { PersonalData, UserKind } from '../../kernel/model/personal-data.ts';
import type { WebhookHeaders } from '../../kernel/model/webhook.ts';

export const REVIEW_STATUSES = [
  'init',
  'pending',
  'prechecked',
  'queued',
  'awaitingService',
  'awaitingUser',
  'onHold',
  'completed',
] as const;
export type ReviewStatus = (typeof REVIEW_STATUSES)[number];

/** Until the review ends, the user has nothing to do, and the applicant must not be reset. */
export const UNDER_REVIEW: ReadonlySet<string> = new Set<ReviewStatus>([
  'pending',
  'prechecked',
  'queued',
  'awaitingService',
  'onHold',
]);

/** `answer` is set if and only if the status is `completed`. `rejectType` is set if and only if the answer is `RED`. */
export type Review = {
  levelName: string;
  status: ReviewStatus;
  answer: 'GREEN' | 'RED' | null;
  rejectType: 'RETRY' | 'FINAL' | null;
  /** Time of the answer, in epoch milliseconds. */
  reviewedAt: number | null;
};

export type Applicant = { id: string; kind: UserKind; review: Review | null; data: PersonalData };

/** Independent of the provider's names. For example, `read` means that the applicant must be read again. */
export type EventEffect = 'review' | 'read' | 'activated' | 'deactivated' | 'data_deleted' | 'deleted';

export type IdentityEvent = {
  /** Identifies the event across repeated deliveries. */
  key: string;
  effect: EventEffect;
  applicantId: string;
  userId: string | null;
  kind: UserKind | null;
  /** Whether the event is about a member of a company, not about the company itself. */
  isMember: boolean;
  isSandbox: boolean;
  /** Whether this is a test delivery from the provider's dashboard. */
  isTest: boolean;
  review: Review | null;
  /** Time of the event, in epoch milliseconds. */
  at: number;
};

/** The interface to the identity provider. Calls may throw `upstream_error` or `upstream_unavailable`. */
export type IdentityProvider = {
  createToken(input: { userId: string; level: Level; email: string }): Promise<string>;
  findApplicant(userId: string): Promise<Applicant | null>;
  /** Resets the applicant's current level. Returns false if the applicant's state does not allow a reset. */
  resetApplicant(applicantId: string): Promise<boolean>;
  /** Makes `level` the applicant's current level. Returns false if the applicant's state does not allow the move. */
  moveToLevel(applicantId: string, level: Level): Promise<boolean>;
  /** Null if the event has no effect. Throws `unauthorized` unless the provider signed `body`. */
  readWebhook(headers: WebhookHeaders, body: Buffer): IdentityEvent | null;
  /** Whether we are connected to the provider's sandbox. If not, events from the sandbox are ignored. */
  isSandbox: boolean;
  close(): Promise<void>;
};
