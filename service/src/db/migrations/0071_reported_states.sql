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
create constraint trigger document_submissions_status_change after insert or delete on document_submissions
  deferrable initially deferred for each row execute function mark_status_check();
create constraint trigger document_submissions_status after update on document_submissions
  deferrable initially deferred for each row
  when (old.status <> new.status or old.expires_at <> new.expires_at or old.pii_version <> new.pii_version)
  execute function mark_status_check();
create constraint trigger option_addresses_status after insert or delete on option_addresses
  deferrable initially deferred for each row execute function mark_status_check();

-- The state of each offer that a partner was last told. No foreign keys: the row is not a use of the offer.
create table reported_offers (
  offer_id uuid not null,
  partner_id uuid not null,
  state text not null check (state in ('published', 'started', 'ended')),
  primary key (offer_id, partner_id)
);
-- Partners know the offers that were published before.
insert into reported_offers
  select o.id, p.partner_id, case
    when least(o.ends_at, o.closed_at) <= now() then 'ended'
    when o.starts_at is null or o.starts_at <= now() then 'started' else 'published' end
  from offers o join offer_partners p on p.offer_id = o.id where o.published_at is not null;
