-- Events: everything that a partner would otherwise poll for, appended in the transaction of the change that they report.
--
-- Readers go by `position` and remember the last one they have seen, so no row may ever appear below a position that
-- was readable before. A PostgreSQL sequence alone does not guarantee that: transactions commit in another order than they drew
-- their numbers. Therefore a row is written without a position, and `place_events` gives positions to committed rows only,
-- one caller at a time: what it has placed is visible before the next caller places more. Writers wait for nobody.
-- `written` orders the rows that are placed together. Two changes of one row keep their order, because the second is
-- written after the lock on the row was released, which is after the first was committed.
--
-- `sequence` numbers the events of each partner from 1 without gaps, so that a consumer can prove that it missed none. It
-- is assigned together with `position`, after the commit: a rollback or a late commit leaves no gap.
create table events (
  id uuid primary key,
  written bigint not null generated always as identity,
  position bigint,
  sequence bigint,
  partner_id uuid not null,
  -- Null where the event concerns no user.
  user_id uuid,
  type text not null,
  -- Ids, statuses and amounts; never personal data.
  data jsonb not null,
  -- The previous values of the members of `data` that changed.
  changes jsonb,
  -- The resource that the event is about: `object`, `id` and `path`.
  related jsonb,
  -- The API request that caused the event.
  request_id text,
  inserted_at timestamptz not null,
  check ((position is null) = (sequence is null))
);
-- Writers of events pay for every check. The names of types are fixed in the code, so one without a regular expression is
-- enough.
alter table events add constraint events_type_check check (type like '%.%') not valid;
create index events_unplaced on events (written) where position is null;
create unique index events_position on events (position) where position is not null;
create index events_partner on events (partner_id, position) where position is not null;
create unique index events_sequence on events (partner_id, sequence) where sequence is not null;
create index events_user_sequence on events (partner_id, user_id, sequence) where sequence is not null;
create index events_type_sequence on events (partner_id, type, sequence) where sequence is not null;
-- The history of one resource, which an operator asks for by its id. Writers pay for every index, so it has placed events only:
-- placing them writes their index entries anyway.
create index events_subject on events ((data ->> 'id'), sequence) where sequence is not null and data ->> 'id' is not null;

create sequence event_positions;

-- The number of the last event of each partner.
create table partner_sequences (
  partner_id uuid primary key,
  last bigint not null
);

-- The ids of deleted events, so that a reader who resumes from one learns that events are gone.
create table expired_events (
  id uuid primary key,
  partner_id uuid not null,
  user_id uuid,
  expired_at timestamptz not null default now()
);
create index expired_events_expired_at on expired_events (expired_at);

-- Places at most `most` events, returns how many it placed, and notifies once per call. Writers do not notify: NOTIFY in
-- the writing transactions would serialise their commits.
create function place_events(most integer) returns integer language plpgsql as $$
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

-- The scope that a reader of events about a user needs. An unknown type gives null, and is shown to nobody.
create function event_scope(type text) returns text language sql immutable as $$
  select case split_part(type, '.', 1)
    when 'participation' then 'participations:read'
    when 'requirement' then 'requirements:read'
    when 'document_submission' then 'documents:write'
    when 'wallet' then 'wallets:read'
    when 'tokenized_swap' then 'swaps:read'
  end
$$;

-- Whether the partner may read the event: it is about no user, or the user's live grant to the partner has its scope.
-- Without a subquery of its own PostgreSQL inlines it, so an event costs one function call.
create function event_visible(partner uuid, about uuid, type text) returns boolean language sql stable as $$
  select about is null or has_granted(about, partner, event_scope(type))
$$;
