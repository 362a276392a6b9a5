-- `sequence` numbers the events of each partner from 1 without gaps, so that a consumer can prove that it missed none. It
-- is assigned together with `position`, after the commit: a rollback or a late commit leaves no gap.
alter table events
  add sequence bigint,
  -- The API request that caused the event.
  add request_id text,
  -- The previous values of the members of `data` that changed.
  add changes jsonb,
  -- The resource that the event is about: `object`, `id` and `path`.
  add related jsonb;

create table partner_sequences (
  partner_id uuid primary key,
  last bigint not null
);

update events e set sequence = numbered.sequence
  from (
    select id, row_number() over (partition by partner_id order by position) as sequence
    from events where position is not null
  ) as numbered
  where e.id = numbered.id;
insert into partner_sequences select partner_id, max(sequence) from events where sequence is not null group by partner_id;

alter table events add check ((position is null) = (sequence is null));
create unique index events_sequence on events (partner_id, sequence) where sequence is not null;
create index events_user_sequence on events (partner_id, user_id, sequence) where sequence is not null;
create index events_type_sequence on events (partner_id, type, sequence) where sequence is not null;
drop index events_user;

-- Places at most `most` events, returns how many it placed, and notifies once per call. Writers do not notify: NOTIFY in
-- the writing transactions would serialise their commits.
create or replace function place_events(most integer) returns integer language plpgsql as $$
declare
  placed integer;
begin
  -- Held until the caller's transaction ends. Any number will do, as long as it never changes.
  perform pg_advisory_xact_lock(x'63617573'::int, 8);
  with found as materialized (
    select id, partner_id, written from events where position is null order by written limit most
  ), counted as (
    insert into partner_sequences as s (partner_id, last)
    select partner_id, count(*) from found group by partner_id
    on conflict (partner_id) do update set last = s.last + excluded.last
    returning s.partner_id, s.last
  ), positioned as materialized (
    -- In a step of its own, because the window function below sorts the rows by partner.
    select id, partner_id, nextval('event_positions') as position from (select * from found order by written) as ordered
  ), numbered as (
    select id, partner_id, position, row_number() over (partition by partner_id order by position desc) - 1 as from_last
    from positioned
  )
  update events set position = numbered.position, sequence = counted.last - numbered.from_last
    from numbered join counted using (partner_id)
    where events.id = numbered.id;
  get diagnostics placed = row_count;
  if placed > 0 then perform pg_notify('events', ''); end if;
  return placed;
end
$$;
