/** The provider's objects, with the names that it has for them. One signer each is all we need. */
export type Submission = {
  id: number;
  submitter_id: number;
  slug: string;
  template_id: number;
  email: string | null;
  external_id: string | null;
  /** What the form is filled with; the provider keeps it, the service must not. */
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

export type SigningState = { submissions: Submission[]; mails: SentMail[]; next_id: number };

export const TEMPLATES: Record<number, string> = { 1: 'W-8BEN', 2: 'W-8BEN-E' };

/** The fields of both forms. */
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

/** The first of these that has a time. */
export function submitterStatus(one: Submission): 'declined' | 'completed' | 'opened' | 'sent' | 'awaiting' {
  if (one.declined_at !== null) return 'declined';
  if (one.completed_at !== null) return 'completed';
  if (one.opened_at !== null) return 'opened';
  return one.sent_at === null ? 'awaiting' : 'sent';
}

export function submissionStatus(
  one: Submission,
  now: number,
): 'completed' | 'declined' | 'expired' | 'pending' {
  if (one.completed_at !== null) return 'completed';
  if (one.declined_at !== null) return 'declined';
  return one.expire_at !== null && Date.parse(one.expire_at) <= now ? 'expired' : 'pending';
}

export function submitterToWire(one: Submission, host: string): Record<string, unknown> {
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
  } = one;
  return {
    id: submitter_id,
    submission_id: id,
    uuid: `00000000-0000-4000-8000-${String(submitter_id).padStart(12, '0')}`,
    email,
    slug,
    status: submitterStatus(one),
    values: Object.entries(one.values).map(([field, value]) => ({ field, value })),
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
    preferences: { send_email: true, default_values: one.values },
    role: 'First Party',
    embed_src: `${host}/s/${slug}`,
  };
}

export function submissionToWire(one: Submission, host: string, now: number): Record<string, unknown> {
  const { id, slug, template_id, created_at, expire_at, archived_at, completed_at } = one;
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
    audit_log_url: completed_at === null ? null : `${host}/audit/${slug}`,
    status: submissionStatus(one, now),
    completed_at,
    submitters: [submitterToWire(one, host)],
  };
}

/** Names match exactly, in lower case or in snake case; a name that no field has is dropped without a word. */
export function matchFields(values: Record<string, unknown>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    const field = FIELDS.find(
      (one) => one === name || one.toLowerCase() === name || one.toLowerCase().replaceAll(' ', '_') === name,
    );
    if (field !== undefined && typeof value === 'string' && value !== '') found[field] = value;
  }
  return found;
}
