import type { UserKind } from '../accounts/user.ts';
import type { PersonalData } from '../pii/personal-data.ts';

export const LEVELS = [
  'Sorting_KYC_Level',
  'BasicKYCLevel',
  'AccreditationIndividual_FullVerification',
] as const;
export type Level = (typeof LEVELS)[number];

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

/** The provider or its officers are at work: nothing the user could do, and nothing to wipe from under them. */
export const UNDER_REVIEW: ReadonlySet<string> = new Set<ReviewStatus>([
  'pending',
  'prechecked',
  'queued',
  'awaitingService',
  'onHold',
]);

/** `answer` stands exactly when the status is completed, `rejectType` exactly when the answer is RED. */
export type Review = {
  levelName: string;
  status: ReviewStatus;
  answer: 'GREEN' | 'RED' | null;
  rejectType: 'RETRY' | 'FINAL' | null;
  /** When the verdict was given, in milliseconds since the epoch. */
  reviewedAt: number | null;
};

export type Applicant = { id: string; kind: UserKind; review: Review | null; data: PersonalData };

/** What an event means, whatever the provider calls it. `read` = something changed, ask again. */
export type EventEffect =
  | 'review'
  | 'read'
  | 'activated'
  | 'deactivated'
  | 'data_deleted'
  | 'deleted'
  | 'none';

export type IdentityEvent = {
  /** What names the event; a repeated delivery has the same. */
  name: string;
  effect: EventEffect;
  applicantId: string;
  userId: string | null;
  kind: UserKind | null;
  /** It is about somebody who belongs to a company, not about the company. */
  isMember: boolean;
  isSandbox: boolean;
  /** A delivery that the provider made up to try the address. */
  isTest: boolean;
  review: Review | null;
  /** When it happened, in milliseconds since the epoch. */
  at: number;
};

export type WebhookHeaders = Record<string, string | string[] | undefined>;

/** The port to whoever verifies identities. Calls throw `upstream_error` and `upstream_unavailable`. */
export type IdentityProvider = {
  mintToken(input: { userId: string; level: Level; email: string }): Promise<string>;
  findApplicant(userId: string): Promise<Applicant | null>;
  /** False when the provider refuses because of the state the applicant is in. */
  resetApplicant(applicantId: string): Promise<boolean>;
  /** The event in a webhook; `unauthorized` unless the provider signed exactly these bytes. */
  readWebhook(headers: WebhookHeaders, body: Buffer): IdentityEvent;
  /** Whether this is the provider's test side, whose events are worth nothing to the real one. */
  isSandbox: boolean;
  close(): Promise<void>;
};
