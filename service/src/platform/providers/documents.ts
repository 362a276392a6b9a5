import type { WebhookHeaders } from '../../kernel/model/webhook.ts';

export const FORM_TYPES = ['w8_ben', 'w8_ben_e'] as const;
export type FormType = (typeof FORM_TYPES)[number];

/** The statuses in order of progress. The status of a submission only moves forward in this list. */
export const SUBMISSION_STATUSES = [
  'INITIALIZED',
  'SENT',
  'VIEWED',
  'EXPIRED',
  'DECLINED',
  'COMPLETED',
] as const;
export type SubmissionStatus = (typeof SUBMISSION_STATUSES)[number];

export const OPEN_STATUSES = ['INITIALIZED', 'SENT', 'VIEWED'] as const satisfies readonly SubmissionStatus[];

export function isOpen(status: SubmissionStatus): boolean {
  return OPEN_STATUSES.some((open) => open === status);
}

export type Signing = {
  submissionId: number;
  submitterId: number;
  /** The address that the link was sent to; null if the provider does not say. */
  email: string | null;
  status: SubmissionStatus;
  /** When the form was signed, in milliseconds since the epoch. */
  completedAt: number | null;
};

/** Form values by field name; forwarded to the provider and never stored. */
export type FormValues = Record<string, string>;

type NewSigning = {
  /** Our own id, used to find the submission if the response gets lost. */
  externalId: string;
  formType: FormType;
  email: string;
  values: FormValues;
  expiresAt: number;
};

export type DocumentEvent = {
  /** Identifies the event across repeated deliveries. */
  key: string;
  externalId: string | null;
  submissionId: number | null;
  /** The new status; null if the event changes nothing. */
  status: SubmissionStatus | null;
  completedAt: number | null;
};

/** The interface to the signing provider. Calls throw `upstream_error` and `upstream_unavailable`. */
export type DocumentProvider = {
  /** `refused` means that the provider rejected the submission and created nothing. */
  create(input: NewSigning): Promise<Signing | { refused: 'values' | 'setup' }>;
  find(externalId: string): Promise<Signing | null>;
  read(submissionId: number): Promise<Signing>;
  resend(submitterId: number, values: FormValues): Promise<boolean>;
  /** Disables the link, unless the form has ended. Null if the provider has deleted the form. */
  archive(submissionId: number): Promise<Signing | null>;
  readWebhook(headers: WebhookHeaders, body: Buffer): DocumentEvent;
  close(): Promise<void>;
};
