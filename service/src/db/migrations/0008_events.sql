-- Everything a partner would otherwise poll for, appended in the transaction of the change it tells.
--
-- Readers go by `position` and remember the last one they have seen, so no row may ever appear below a position that
-- was readable before. A sequence alone does not give that: transactions commit in another order than they drew their
-- numbers. Therefore a row is written without a position, and `place_events` gives positions to committed rows only,
-- one caller at a time: what it has placed is visible before the next caller places more. Writers wait for nobody.
-- `written` orders the rows that are placed together. Two changes of one thing keep their order, because the second is
-- written after the lock on the thing was given back, which is after the first was committed.
create table events (
  id uuid primary key,
  written bigint not null generated always as identity,
  position bigint,
  partner_id uuid not null,
  -- Null where the event concerns no user.
  user_id uuid,
  type text not null check (type ~ '^[a-z_]+\.[a-zA-Z_]+$'),
  -- Ids, statuses and amounts; never personal data.
  data jsonb not null,
  inserted_at timestamptz not null
);
create index events_unplaced on events (written) where position is null;
create unique index events_position on events (position) where position is not null;
create index events_partner on events (partner_id, position) where position is not null;
create index events_user on events (partner_id, user_id, position) where position is not null;

create sequence event_positions;

-- Places at most `most` events and answers how many it placed.
create function place_events(most integer) returns integer language plpgsql as $$
declare
  placed integer;
begin
  -- Held until the caller's transaction ends. Any number will do, as long as it never changes.
  perform pg_advisory_xact_lock(x'63617573'::int, 8);
  update events set position = numbered.position
    from (
      select found.written, nextval('event_positions') as position
      from (select written from events where position is null order by written limit most) as found
    ) as numbered
    where events.written = numbered.written and events.position is null;
  get diagnostics placed = row_count;
  return placed;
end
$$;
