-- Identity checks, personal data, and the statuses of requirements that follow from them.

-- Users at the identity provider, and the queue of those to read again: a row is due at `due_at` (a webhook makes it due
-- at once) and is read by one worker at a time, until `lease_until`. `applicant_id` is the provider's id for the user.
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

-- The provider's last answer for each level, because the provider remembers only the current level. `as_of` is the provider's
-- time of the answer: nothing older is applied.
create table identity_reviews (
  user_id uuid not null references users on delete cascade,
  level_name text not null check (level_name in ('Sorting_KYC_Level', 'BasicKYCLevel',
    'AccreditationIndividual_FullVerification')),
  review_status text not null check (review_status in ('init', 'pending', 'prechecked', 'queued', 'awaitingService',
    'awaitingUser', 'onHold', 'completed')),
  answer text check (answer in ('GREEN', 'RED')),
  reject_type text check (reject_type in ('RETRY', 'FINAL')),
  -- A keyed hash of the person (name and date of birth) whom the provider approved. The key is sealed with the user's personal
  -- data. Empty until the applicant has been read after the approval; null for other answers.
  person_hash bytea,
  reviewed_at timestamptz,
  as_of timestamptz not null,
  inserted_at timestamptz not null default now(),
  primary key (user_id, level_name),
  check ((review_status = 'completed') = (answer is not null)),
  check ((reject_type is not null) = (answer is not distinct from 'RED')),
  check (answer is null or reviewed_at is not null),
  check (answer is distinct from 'GREEN' or person_hash is not null)
);
-- For accreditations that expire soon.
create index identity_reviews_accredited on identity_reviews (reviewed_at)
  where level_name = 'AccreditationIndividual_FullVerification' and answer = 'GREEN';

-- Webhooks that were received, so that a repeated one is recognised. `key` is a hash of what identifies the event.
create table webhook_receipts (
  source text not null check (source in ('identity', 'documents')),
  key bytea not null,
  received_at timestamptz not null default now(),
  primary key (source, key)
);
create index webhook_receipts_received_at on webhook_receipts (received_at);

-- Personal data, sealed. `sealed_facts` is the little that the rules need (country, region, what is missing), so that
-- they never open the rest. The first four bytes of a sealed value name its key. `version` counts the changes of content;
-- `is_stale` means that the provider no longer stands behind it. Until `restricted_until`, a row is kept only because the law
-- requires it.
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
-- Housekeeping finds the rows that it deletes through this index.
create index pii_restricted_until on pii (restricted_until) where restricted_until is not null;

-- Who read or wrote which fields of whose data, and when; never the values. It outlives the user.
create table pii_audit (
  id bigint generated always as identity primary key,
  user_id uuid not null,
  actor text not null,
  action text not null check (action in ('read', 'write', 'rotate', 'restrict', 'erase')),
  fields text[] not null,
  at timestamptz not null default now()
);

-- Changes of the country or region of residence. `is_flagged`: an offer or the blocked countries rejected the old place and
-- accept the new one. The places themselves are sealed with the user's personal data.
create table country_changes (
  user_id uuid not null references users on delete cascade,
  changed_at timestamptz not null,
  is_flagged boolean not null,
  approved_at timestamptz,
  primary key (user_id, changed_at)
);
create index country_changes_open on country_changes (changed_at) where approved_at is null;

-- Users who asked to be erased, and what is kept of them until when.
create table erasures (
  user_id uuid primary key references users on delete cascade,
  erased_at timestamptz not null,
  kept text[] not null,
  keep_until timestamptz
);

-- The status of each requirement that a partner was last told, because statuses are computed and never stored.
create table reported_statuses (
  user_id uuid not null references users on delete cascade,
  partner_id uuid not null,
  requirement_id uuid not null,
  status text not null,
  action text,
  primary key (user_id, partner_id, requirement_id)
);

-- Users whose statuses are computed again at `due_at`: at once after a change of a fact, or when time changes a status.
create table status_checks (
  user_id uuid primary key references users on delete cascade,
  due_at timestamptz not null
);
create index status_checks_due_at on status_checks (due_at);

-- Runs at commit, so that the lock on the row is the last that a transaction takes.
create function mark_status_check() returns trigger language plpgsql as $$
begin
  insert into status_checks (user_id, due_at)
    select u.id, '-infinity' from users u where u.id = coalesce(new.user_id, old.user_id)
    on conflict (user_id) do update set due_at = '-infinity';
  return null;
end
$$;

create constraint trigger identity_reviews_status after insert or update or delete on identity_reviews
  deferrable initially deferred for each row execute function mark_status_check();
create constraint trigger identity_applicants_status after update on identity_applicants
  deferrable initially deferred for each row
  when (old.is_active <> new.is_active or (old.attempts > 0) <> (new.attempts > 0))
  execute function mark_status_check();
create constraint trigger pii_status after insert or update or delete on pii
  deferrable initially deferred for each row execute function mark_status_check();
