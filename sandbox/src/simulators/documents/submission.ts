/** A submission and its only submitter in one object, with the provider's field names. */
export type Submission = {
  id: number;
  submitter_id: number;
  slug: string;
  template_id: number;
  email: string | null;
  external_id: string | null;
  /** The personal data that fills the form. The provider stores it, but the service must not. */
  values: Record<string, string>;
  created_at: string;
  expire_at: string | null;
  archived_at: string | null;
  sent_at: string | null;
  opened_at: string | null;
  completed_at: string | null;
  declined_at: string | null;
  decline_reason: string | null;
};

export type SentMail = { to: string; subject: string; link: string; submission_id: number; at: string };

export type DocumentsState = { submissions: Submission[]; mails: SentMail[]; next_id: number };

export const TEMPLATES: Record<number, string> = { 1: 'W-8BEN', 2: 'W-8BEN-E' };

/** The fields that both forms have. */
export const FIELDS = [
  'Full Name',
  'Country Of Citizenship',
  'Permanent Address',
  'City',
  'Country',
  'Foreign Tax Number',
  'DOB',
  'Signature',
  'Date',
];

export function submitterStatus(
  submission: Submission,
): 'declined' | 'completed' | 'opened' | 'sent' | 'awaiting' {
  if (submission.declined_at !== null) return 'declined';
  if (submission.completed_at !== null) return 'completed';
  if (submission.opened_at !== null) return 'opened';
  return submission.sent_at === null ? 'awaiting' : 'sent';
}

export function submissionStatus(
  submission: Submission,
  now: number,
): 'completed' | 'declined' | 'expired' | 'pending' {
  if (submission.completed_at !== null) return 'completed';
  if (submission.declined_at !== null) return 'declined';
  return submission.expire_at !== null && Date.parse(submission.expire_at) <= now ? 'expired' : 'pending';
}

export function submitterToWire(submission: Submission, baseUrl: string): Record<string, unknown> {
  const {
    submitter_id,
    id,
    slug,
    email,
    external_id,
    sent_at,
    opened_at,
    completed_at,
    declined_at,
    created_at,
  } = submission;
  return {
    id: submitter_id,
    submission_id: id,
    uuid: `00000000-0000-4000-8000-${String(submitter_id).padStart(12, '0')}`,
    email,
    slug,
    status: submitterStatus(submission),
    values: Object.entries(submission.values).map(([field, value]) => ({ field, value })),
    metadata: {},
    sent_at,
    opened_at,
    completed_at,
    declined_at,
    created_at,
    updated_at: created_at,
    name: null,
    phone: null,
    external_id,
    preferences: { send_email: true, default_values: submission.values },
    role: 'First Party',
    embed_src: `${baseUrl}/s/${slug}`,
  };
}

export function submissionToWire(
  submission: Submission,
  baseUrl: string,
  now: number,
): Record<string, unknown> {
  const { id, slug, template_id, created_at, expire_at, archived_at, completed_at } = submission;
  return {
    id,
    name: TEMPLATES[template_id] ?? null,
    slug,
    source: 'api',
    submitters_order: 'preserved',
    expire_at,
    archived_at,
    created_at,
    updated_at: created_at,
    template: { id: template_id, name: TEMPLATES[template_id] ?? null },
    submission_events: [],
    documents: [],
    audit_log_url: completed_at === null ? null : `${baseUrl}/audit/${slug}`,
    status: submissionStatus(submission, now),
    completed_at,
    submitters: [submitterToWire(submission, baseUrl)],
  };
}

/**
 * Accepts each field name in three spellings: exact, in lower case, and in snake case. Silently drops unknown names, as
 * the provider does.
 */
export function matchFields(values: Record<string, unknown>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    const field = FIELDS.find(
      (known) =>
        known === name || known.toLowerCase() === name || known.toLowerCase().replaceAll(' ', '_') === name,
    );
    if (field !== undefined && typeof value === 'string' && value !== '') found[field] = value;
  }
  return found;
}
