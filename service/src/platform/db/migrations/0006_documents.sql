-- Forms that users sign, and documents that they acknowledge.

-- Forms sent for signing; what they were filled with is never stored. `id` is the provider's external id, `attempt` counts the
-- forms of one user and type. `claimed_at` is when the link was last sent, or was about to be. `due_at` and `lease_until` work
-- as for identity_applicants. `pii_version` is that of the data on record when the form was filled.
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
-- For forms and signatures that expire soon.
create index document_submissions_signed on document_submissions (completed_at) where status = 'COMPLETED';
create index document_submissions_open_until on document_submissions (expires_at) where status in ('SENT', 'VIEWED');

create constraint trigger document_submissions_status_change after insert or delete on document_submissions
  deferrable initially deferred for each row execute function mark_status_check();
create constraint trigger document_submissions_status after update on document_submissions
  deferrable initially deferred for each row
  when (old.status <> new.status or old.expires_at <> new.expires_at or old.pii_version <> new.pii_version)
  execute function mark_status_check();

-- Forms that have ended without a signature, until the signing provider has archived them too. Their links work until then.
create table forms_to_archive (
  submission_id uuid primary key references document_submissions on delete cascade,
  due_at timestamptz not null default now(),
  lease_until timestamptz,
  inserted_at timestamptz not null default now()
);
create index forms_to_archive_due_at on forms_to_archive (due_at);

-- Users confirm that they have read a document of an offer, such as its risk disclosure, in one exact version. Each row is
-- evidence: which text, when, through which client and from which network. There is no foreign key to the offer, because a row
-- must not stop an operator from changing it.
create table acknowledgements (
  id uuid primary key,
  user_id uuid not null references users,
  partner_id uuid not null references partners,
  client_id text not null,
  offer_id uuid not null,
  document text not null,
  name text not null,
  url text not null,
  version text not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  request_id text,
  network text,
  inserted_at timestamptz not null,
  unique (user_id, offer_id, partner_id, document, version, sha256)
);
-- `offer apply` compares a file with the texts that users of the offer have acknowledged, while it locks the offer.
create index acknowledgements_offer on acknowledgements (offer_id, document, version);

create constraint trigger acknowledgements_status after insert on acknowledgements
  deferrable initially deferred for each row execute function mark_status_check();

-- Nothing changes or deletes a row. Erasing a user only removes the network.
create function refuse_acknowledgement_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.network is null and to_jsonb(new) - 'network' = to_jsonb(old) - 'network' then return new; end if;
  raise exception 'acknowledgements cannot be changed';
end
$$;
create trigger acknowledgements_fixed before update or delete on acknowledgements
  for each row execute function refuse_acknowledgement_change();
create trigger acknowledgements_kept before truncate on acknowledgements
  for each statement execute function refuse_acknowledgement_change();
