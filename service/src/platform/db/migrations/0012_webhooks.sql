-- Webhooks that partners receive.

create table webhook_endpoints (
  id uuid primary key,
  partner_id uuid not null references partners (id),
  url text not null,
  types text[] not null,
  description text,
  -- `failing`: at least one event exhausted its retries and no attempt has succeeded since.
  state text not null default 'enabled' check (state in ('enabled', 'failing', 'disabled')),
  disabled_reason text check (disabled_reason in ('requested', 'gone', 'failing')),
  -- The sequence number of the last event that deliveries were created for.
  cursor bigint not null,
  -- Attempts since the last success or the last enabling, and when the first of them failed.
  failures integer not null default 0,
  failing_since timestamptz,
  -- Whether the partner was told of a problem and not yet of the recovery.
  problem_reported boolean not null default false,
  sealed_secret bytea not null,
  previous_sealed_secret bytea,
  previous_secret_until timestamptz,
  last_delivered_at timestamptz,
  deleted_at timestamptz,
  inserted_at timestamptz not null,
  check ((state = 'disabled') = (disabled_reason is not null))
);
create index webhook_endpoints_partner on webhook_endpoints (partner_id, inserted_at, id) where deleted_at is null;
-- Endpoints that housekeeping removes with their deliveries.
create index webhook_endpoints_deleted on webhook_endpoints (deleted_at) where deleted_at is not null;

create table webhook_deliveries (
  id uuid primary key,
  endpoint_id uuid not null references webhook_endpoints (id) on delete cascade,
  event_id uuid not null,
  -- The id of the resource that the event is about: deliveries about one subject leave one after another.
  subject text,
  sequence bigint not null,
  -- Only the head of a subject may be sent: the delivery that was started, or else the oldest pending one. Triggers mark the
  -- heads, so that every statement keeps the marks right. Looking for them in the queue would be slow if few subjects had many
  -- deliveries.
  is_head boolean not null default false,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed', 'skipped')),
  attempts integer not null default 0,
  -- Attempts of the current retry schedule, which starts again when the endpoint is enabled.
  step integer not null default 0,
  retry_until timestamptz,
  next_attempt_at timestamptz default now(),
  lease_until timestamptz,
  -- A resend that no worker has taken yet.
  resend_requested boolean not null default false,
  -- A resend is leased like a scheduled attempt, so that one whose sender dies is made again.
  resend_lease_until timestamptz,
  -- Whether a resend was requested while another one was being sent. It is sent after that one, so that a receiver never gets
  -- two resends of one delivery at once.
  resend_again boolean not null default false,
  inserted_at timestamptz not null,
  unique (endpoint_id, event_id)
) with (fillfactor = 80);
-- No index has the columns that a claim changes, so a claim writes no index as long as the page has room.
create index webhook_deliveries_heads on webhook_deliveries (endpoint_id, next_attempt_at, sequence)
  where state = 'pending' and is_head;
create index webhook_deliveries_subjects on webhook_deliveries (endpoint_id, subject, is_head, sequence)
  where state = 'pending';
create index webhook_deliveries_resend on webhook_deliveries (endpoint_id) where resend_requested;
-- Deliveries of an endpoint that failed or were skipped, which `recover` sends again.
create index webhook_deliveries_missed on webhook_deliveries (endpoint_id, sequence) where state in ('failed', 'skipped');
create index webhook_deliveries_list on webhook_deliveries (endpoint_id, inserted_at, id);
create index webhook_deliveries_finished on webhook_deliveries (inserted_at) where state <> 'pending';

-- Attempts are the largest table of the webhooks. One partition per month, so that old months are dropped as a whole
-- instead of deleting row by row. Deleting a delivery therefore does not delete its attempts; nothing reads them without
-- their delivery.
create table webhook_attempts (
  id uuid not null,
  delivery_id uuid not null,
  kind text not null constraint webhook_attempts_kind_check check (kind in ('scheduled', 'resend')),
  at timestamptz not null,
  duration_ms integer not null,
  status integer,
  error text,
  address text,
  response text
) partition by range (at);
-- Everything until the end of the month in which the database was created.
create table webhook_attempts_first partition of webhook_attempts (primary key (id))
  for values from (minvalue) to (date_trunc('month', now(), 'UTC') + interval '1 month');
create index webhook_attempts_first_delivery on webhook_attempts_first (delivery_id, at, id);
-- Used only while the partition of a month is missing.
create table webhook_attempts_default partition of webhook_attempts default;
create index webhook_attempts_delivery on webhook_attempts (delivery_id, at, id);

-- Decides whether a delivery that becomes pending is the head of its subject. It is, if there is none, or if the head is a
-- newer delivery that was not started. Writers who make deliveries pending hold the lock of the endpoint, so there is one at
-- a time. The lock here is for those who finish a head and find no next one: see below. The head is looked up by its place in
-- the index of subjects, because the index of heads has no subjects.
create function place_webhook_delivery() returns trigger language plpgsql as $$
declare
  head_sequence bigint;
begin
  new.is_head := true;
  if new.state <> 'pending' or new.subject is null then return new; end if;
  select sequence into head_sequence from webhook_deliveries
    where endpoint_id = new.endpoint_id and subject = new.subject and state = 'pending'
    order by is_head desc limit 1;
  if not found then return new; end if;
  perform pg_advisory_xact_lock(hashtextextended('webhook deliveries ' || new.endpoint_id, 0));
  -- The head may have been finished while we waited.
  select sequence into head_sequence from webhook_deliveries
    where endpoint_id = new.endpoint_id and subject = new.subject and state = 'pending'
    order by is_head desc limit 1;
  new.is_head := not found;
  -- An insert that conflicts with another delivery of the event does nothing, so it must not take the place of the head.
  if head_sequence > new.sequence and not exists (
    select from webhook_deliveries where endpoint_id = new.endpoint_id and event_id = new.event_id and id <> new.id
  ) then
    -- Skips a locked row: somebody is starting or finishing it.
    update webhook_deliveries set is_head = false
      where id = (
        select id from webhook_deliveries
        where endpoint_id = new.endpoint_id and subject = new.subject and state = 'pending' and is_head
          and step <= 0 and lease_until is null
        for update skip locked
      );
    new.is_head := found;
  end if;
  return new;
end
$$;

-- Makes the oldest pending delivery the head of the subject whose head was finished or deleted. If there is none, a writer
-- may have inserted one that we cannot see yet, and it may still see our head. The lock waits for such a writer, and later
-- ones wait until we have committed.
create function promote_webhook_delivery() returns trigger language plpgsql as $$
declare
  next_id uuid;
  is_locked boolean := false;
begin
  loop
    select id into next_id from webhook_deliveries
      where endpoint_id = old.endpoint_id and subject = old.subject and state = 'pending' and not is_head
      order by sequence limit 1;
    if next_id is not null then
      update webhook_deliveries set is_head = true where id = next_id and state = 'pending';
      exit when found;
    else
      exit when is_locked;
      perform pg_advisory_xact_lock_shared(hashtextextended('webhook deliveries ' || old.endpoint_id, 0));
      is_locked := true;
    end if;
  end loop;
  return null;
end
$$;

create trigger webhook_delivery_inserted before insert on webhook_deliveries
  for each row execute function place_webhook_delivery();
create trigger webhook_delivery_restarted before update on webhook_deliveries
  for each row when (old.state <> 'pending' and new.state = 'pending') execute function place_webhook_delivery();
create trigger webhook_delivery_finished after update on webhook_deliveries
  for each row when (old.state = 'pending' and new.state <> 'pending' and old.is_head and old.subject is not null)
  execute function promote_webhook_delivery();
create trigger webhook_delivery_deleted after delete on webhook_deliveries
  for each row when (old.state = 'pending' and old.is_head and old.subject is not null)
  execute function promote_webhook_delivery();
