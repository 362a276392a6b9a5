import type { ColumnType, Generated } from 'kysely';

/** The tables for identity, personal data and documents; see `tables.ts`. */
export interface IdentityTables {
  identity_applicants: IdentityApplicants;
  identity_reviews: IdentityReviews;
  webhook_receipts: WebhookReceipts;
  pii: Pii;
  pii_audit: PiiAudit;
  document_submissions: DocumentSubmissions;
  forms_to_archive: FormsToArchive;
  erasures: Erasures;
  country_changes: CountryChanges;
}

export interface CountryChanges {
  user_id: string;
  changed_at: string;
  is_flagged: boolean;
  approved_at: string | null;
}

export interface IdentityApplicants {
  user_id: string;
  applicant_id: string | null;
  is_active: Generated<boolean>;
  active_as_of: Generated<string>;
  due_at: string;
  lease_until: string | null;
  attempts: Generated<number>;
  checked_at: string | null;
  inserted_at: Generated<string>;
}

export interface IdentityReviews {
  user_id: string;
  level_name: string;
  review_status: string;
  answer: 'GREEN' | 'RED' | null;
  reject_type: 'RETRY' | 'FINAL' | null;
  reviewed_at: string | null;
  person_hash: Buffer | null;
  as_of: string;
  inserted_at: Generated<string>;
}

export interface WebhookReceipts {
  source: 'identity' | 'documents';
  key: Buffer;
  received_at: Generated<string>;
}

export interface Pii {
  user_id: string;
  sealed: Buffer;
  sealed_facts: Buffer;
  key_id: ColumnType<Buffer, never, never>;
  version: number;
  is_stale: Generated<boolean>;
  as_of: string;
  restricted_until: string | null;
  inserted_at: Generated<string>;
  updated_at: Generated<string>;
}

export interface PiiAudit {
  id: ColumnType<bigint, never, never>;
  user_id: string;
  actor: string;
  action: 'read' | 'write' | 'rotate' | 'restrict' | 'erase';
  fields: string[];
  at: Generated<string>;
}

export interface DocumentSubmissions {
  id: string;
  user_id: string;
  document_type: string;
  attempt: number;
  form_type: 'w8_ben' | 'w8_ben_e';
  status: 'INITIALIZED' | 'SENT' | 'VIEWED' | 'COMPLETED' | 'DECLINED' | 'EXPIRED';
  provider_submission_id: bigint | null;
  provider_submitter_id: bigint | null;
  pii_version: number;
  expires_at: string;
  completed_at: string | null;
  claimed_at: string;
  due_at: string;
  lease_until: string | null;
  inserted_at: string;
  updated_at: string;
}

export interface FormsToArchive {
  submission_id: string;
  due_at: Generated<string>;
  lease_until: string | null;
  inserted_at: Generated<string>;
}

export interface Erasures {
  user_id: string;
  erased_at: string;
  kept: string[];
  keep_until: string | null;
}
