/** A postal address, with the provider's field names. */
export type Address = Partial<
  Record<
    | 'country'
    | 'postCode'
    | 'town'
    | 'state'
    | 'street'
    | 'subStreet'
    | 'buildingNumber'
    | 'flatNumber'
    | 'formattedAddress',
    string
  >
>;

export type Info = {
  firstName?: string;
  middleName?: string;
  lastName?: string;
  dob?: string;
  nationality?: string;
  country?: string;
  tin?: string;
  addresses?: Address[];
  companyInfo?: {
    companyName?: string;
    country?: string;
    taxId?: string;
    legalAddress?: string;
    addresses?: Address[];
  };
};

export type ReviewStatus =
  | 'init'
  | 'pending'
  | 'prechecked'
  | 'queued'
  | 'awaitingService'
  | 'awaitingUser'
  | 'onHold'
  | 'completed';

export type ReviewResult = {
  reviewAnswer: 'GREEN' | 'RED';
  reviewRejectType?: 'RETRY' | 'FINAL';
  rejectLabels?: string[];
  moderationComment?: string;
  clientComment?: string;
};

export type Applicant = {
  id: string;
  createdAt: string;
  externalUserId: string;
  type: 'individual' | 'company';
  email?: string;
  info: Info;
  fixedInfo: Info;
  levelName: string;
  attemptCnt: number;
  reviewStatus: ReviewStatus;
  reviewResult?: ReviewResult;
  reviewDate?: string;
};

export type Token = { token: string; userId: string; levelName: string; email?: string; expiresAt: number };

export type IdentityState = {
  applicants: Applicant[];
  tokens: Token[];
  /** The two-letter country code of each user's example person, keyed by the service's user id. */
  countries: Record<string, string>;
};

export const CLIENT_ID = 'causeway_sandbox';

/** Formats a time as `2026-01-02 03:04:05`, in UTC. */
export function wireTime(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 19).replace('T', ' ');
}

export function applicantToWire(applicant: Applicant): Record<string, unknown> {
  const { id, createdAt, externalUserId, type, email, info, fixedInfo, levelName } = applicant;
  return {
    id,
    createdAt,
    key: 'CAUSEWAYSANDBOX',
    clientId: CLIENT_ID,
    inspectionId: `${id.slice(0, 23)}0`,
    externalUserId,
    type,
    ...(email === undefined ? {} : { email }),
    lang: 'en',
    applicantPlatform: 'Web',
    info,
    fixedInfo,
    requiredIdDocs: { docSets: [{ idDocSetType: 'IDENTITY', types: ['PASSPORT', 'ID_CARD'] }] },
    review: { ...reviewToWire(applicant), levelName },
  };
}

export function reviewToWire({
  id,
  attemptCnt,
  createdAt,
  reviewDate,
  reviewStatus,
  reviewResult,
  levelName,
}: Applicant) {
  return {
    reviewId: `r${id.slice(1)}`,
    attemptId: `a${id.slice(1)}`,
    attemptCnt,
    levelName,
    createDate: `${createdAt}+0000`,
    ...(reviewDate === undefined ? {} : { reviewDate }),
    reviewStatus,
    priority: 0,
    ...(reviewResult === undefined ? {} : { reviewResult }),
  };
}
