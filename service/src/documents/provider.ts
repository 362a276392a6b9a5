import type { WebhookHeaders } from '../identity/provider.ts';

export const FORM_TYPES = ['w8_ben', 'w8_ben_e'] as const;
export type FormType = (typeof FORM_TYPES)[number];

/** In the order in which one may follow another: a submission never goes back. */
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

/** A submission as the provider has it. */
export type Signing = {
  submissionId: number;
  submitterId: number;
  status: SubmissionStatus;
  /** When it was signed, in milliseconds since the epoch. */
  completedAt: number | null;
};

/** What the fields of the form are filled with, by name; forwarded and never kept. */
export type FormValues = Record<string, string>;

export type NewSigning = {
  /** Our id, by which it is found again when the answer was lost. */
  externalId: string;
  formType: FormType;
  email: string;
  values: FormValues;
  expiresAt: number;
};

export type DocumentEvent = {
  /** What names the event; a repeated delivery has the same. */
  name: string;
  externalId: string | null;
  submissionId: number | null;
  /** Null for events that change nothing. */
  status: SubmissionStatus | null;
  completedAt: number | null;
};

/** The port to whoever has forms signed. Calls throw `upstream_error` and `upstream_unavailable`. */
export type DocumentProvider = {
  /** Creates and mails the link. `refused` = it said no, and nothing was created. */
  create(input: NewSigning): Promise<Signing | { refused: 'values' | 'setup' }>;
  find(externalId: string): Promise<Signing | null>;
  read(submissionId: number): Promise<Signing>;
  /** Mails the link again with new values; false when the form is no longer open. */
  resend(submitterId: number, values: FormValues): Promise<boolean>;
  /** The link no longer works. */
  archive(submissionId: number): Promise<void>;
  /** The event in a webhook; `unauthorized` unless it comes from the provider. */
  readWebhook(headers: WebhookHeaders, body: Buffer): DocumentEvent;
  close(): Promise<void>;
};
