-- Attempts are the largest table of the webhooks. One partition per month, so that old months are dropped as a whole
-- instead of deleting row by row. Deleting a delivery therefore no longer deletes its attempts; nothing reads them without
-- their delivery.
alter table webhook_attempts rename to webhook_attempts_first;
alter table webhook_attempts_first drop constraint webhook_attempts_delivery_id_fkey;
alter index webhook_attempts_pkey rename to webhook_attempts_first_pkey;
alter index webhook_attempts_delivery rename to webhook_attempts_first_delivery;
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
create index webhook_attempts_delivery on webhook_attempts (delivery_id, at, id);
-- Used only while the partition of a month is missing.
create table webhook_attempts_default partition of webhook_attempts default;
do $$
declare
  latest timestamptz := (select max(at) from webhook_attempts_first);
begin
  execute format('alter table webhook_attempts attach partition webhook_attempts_first for values from (minvalue) to (%L)',
    date_trunc('month', greatest(now(), latest), 'UTC') + interval '1 month');
end $$;
