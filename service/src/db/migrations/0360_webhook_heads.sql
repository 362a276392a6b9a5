-- Only the head of a subject may be sent: the delivery that was started, or else the oldest pending one. Claims looked for
-- the heads in the queue, which took up to 1,000 lookups if few subjects had many deliveries. Now triggers mark them, so that
-- every statement keeps the marks right, also those of older nodes during a rolling update.
alter table webhook_deliveries add is_head boolean not null default false;
update webhook_deliveries d set is_head = true
  from (
    select distinct on (endpoint_id, coalesce(subject, id::text)) id from webhook_deliveries where state = 'pending'
    order by endpoint_id, coalesce(subject, id::text), (step > 0 or lease_until is not null) desc, sequence
  ) as head
  where d.id = head.id;

-- These two replace all indexes of pending deliveries. No index has the columns that a claim changes, so a claim writes no
-- index as long as the page has room.
create index webhook_deliveries_heads on webhook_deliveries (endpoint_id, next_attempt_at, sequence)
  where state = 'pending' and is_head;
create index webhook_deliveries_subjects on webhook_deliveries (endpoint_id, subject, is_head, sequence)
  where state = 'pending';
drop index webhook_deliveries_due, webhook_deliveries_started, webhook_deliveries_waiting, webhook_deliveries_retries,
  webhook_deliveries_queues;
alter table webhook_deliveries set (fillfactor = 80);

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
