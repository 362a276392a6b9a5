-- Users at the identity provider, and the queue of those to read again: a row is due at `due_at` (a webhook makes it due
-- at once) and is read by one worker at a time, until `lease_until`. `applicant_id` is theirs, `user_id` is what they
-- know the user by.
create table identity_applicants (
  user_id uuid primary key references users on delete cascade,
  applicant_id text unique,
  is_active boolean not null default true,
  active_as_of timestamptz not null default '-infinity',
  due_at timestamptz not null,
  lease_until timestamptz,
  attempts integer not null default 0,
  checked_at timestamptz,
  inserted_at timestamptz not null default now()
);
create index identity_applicants_due_at on identity_applicants (due_at);

-- What the provider last said of each level; it remembers only the current one itself. `as_of` is when it was so by
-- the provider's word: nothing older is applied.
create table identity_reviews (
  user_id uuid not null references users on delete cascade,
  level_name text not null check (level_name in ('Sorting_KYC_Level', 'BasicKYCLevel',
    'AccreditationIndividual_FullVerification')),
  review_status text not null check (review_status in ('init', 'pending', 'prechecked', 'queued', 'awaitingService',
    'awaitingUser', 'onHold', 'completed')),
  answer text check (answer in ('GREEN', 'RED')),
  reject_type text check (reject_type in ('RETRY', 'FINAL')),
  reviewed_at timestamptz,
  as_of timestamptz not null,
  inserted_at timestamptz not null default now(),
  primary key (user_id, level_name),
  check ((review_status = 'completed') = (answer is not null)),
  check ((reject_type is not null) = (answer is not distinct from 'RED')),
  check (answer is null or reviewed_at is not null)
);

-- Webhooks that were taken, so that a repeated one is known. `key` is a hash of what names the event.
create table webhook_receipts (
  source text not null check (source in ('identity', 'documents')),
  key bytea not null,
  received_at timestamptz not null default now(),
  primary key (source, key)
);
create index webhook_receipts_received_at on webhook_receipts (received_at);

-- Personal data, sealed. `sealed_facts` is the little that the rules need (country, region, what is missing), so that
-- they never open the rest. The first four bytes of a sealed value name its key. `version` counts the changes of
-- content; `is_stale` when the provider no longer stands behind it. A restricted row is kept for the law alone.
create table pii (
  user_id uuid primary key references users on delete cascade,
  sealed bytea not null,
  sealed_facts bytea not null,
  key_id bytea not null generated always as (substring(sealed from 1 for 4)) stored,
  version integer not null,
  is_stale boolean not null default false,
  as_of timestamptz not null,
  restricted_until timestamptz,
  inserted_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index pii_key_id on pii (key_id);

-- Who read or wrote which fields of whose data, and when; never the values. It outlives the user.
create table pii_audit (
  id bigint generated always as identity primary key,
  user_id uuid not null,
  actor text not null,
  action text not null check (action in ('read', 'write', 'rotate', 'restrict', 'erase')),
  fields text[] not null,
  at timestamptz not null default now()
);
create index pii_audit_user_id on pii_audit (user_id, id);

-- Forms sent for signing; what they were filled with is never stored. `id` is the provider's external id, `attempt`
-- counts the forms of one user and type. `claimed_at` is when the link was last sent, or was about to be; `due_at` and
-- `lease_until` as above. `pii_version` is that of the data on record when the form was filled.
create table document_submissions (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  document_type text not null check (document_type in ('tax_certification')),
  attempt integer not null,
  form_type text not null check (form_type in ('w8_ben', 'w8_ben_e')),
  status text not null check (status in ('INITIALIZED', 'SENT', 'VIEWED', 'COMPLETED', 'DECLINED', 'EXPIRED')),
  provider_submission_id bigint unique,
  provider_submitter_id bigint,
  pii_version integer not null,
  expires_at timestamptz not null,
  completed_at timestamptz,
  claimed_at timestamptz not null,
  due_at timestamptz not null,
  lease_until timestamptz,
  inserted_at timestamptz not null,
  updated_at timestamptz not null,
  unique (user_id, document_type, attempt),
  check ((status = 'COMPLETED') = (completed_at is not null))
);
create unique index document_submissions_open on document_submissions (user_id, document_type)
  where status in ('INITIALIZED', 'SENT', 'VIEWED');
create index document_submissions_due_at on document_submissions (due_at)
  where status in ('INITIALIZED', 'SENT', 'VIEWED');

-- Users who asked to be forgotten, what was kept of them and until when.
create table erasures (
  user_id uuid primary key references users on delete cascade,
  erased_at timestamptz not null,
  kept text[] not null,
  keep_until timestamptz
);
