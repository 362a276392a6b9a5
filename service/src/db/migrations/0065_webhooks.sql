-- Where the service writes to the partner about its integration.
alter table partners add contact_email text;

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

create table webhook_deliveries (
  id uuid primary key,
  endpoint_id uuid not null references webhook_endpoints (id) on delete cascade,
  event_id uuid not null,
  -- The id of the resource that the event is about: deliveries about one subject leave one after another.
  subject text,
  sequence bigint not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed', 'skipped')),
  attempts integer not null default 0,
  -- Attempts of the current retry schedule, which starts again when the endpoint is enabled.
  step integer not null default 0,
  retry_until timestamptz,
  next_attempt_at timestamptz default now(),
  lease_until timestamptz,
  -- A resend that no worker has taken yet.
  resend_requested boolean not null default false,
  inserted_at timestamptz not null,
  unique (endpoint_id, event_id)
);
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, sequence) where state = 'pending';
create index webhook_deliveries_subject on webhook_deliveries (endpoint_id, subject, sequence) where state = 'pending';
create index webhook_deliveries_resend on webhook_deliveries (endpoint_id) where resend_requested;
create index webhook_deliveries_list on webhook_deliveries (endpoint_id, inserted_at, id);
create index webhook_deliveries_finished on webhook_deliveries (inserted_at) where state <> 'pending';

create table webhook_attempts (
  id uuid primary key,
  delivery_id uuid not null references webhook_deliveries (id) on delete cascade,
  kind text not null check (kind in ('scheduled', 'resend')),
  at timestamptz not null,
  duration_ms integer not null,
  status integer,
  error text,
  address text,
  response text
);
create index webhook_attempts_delivery on webhook_attempts (delivery_id, at, id);
