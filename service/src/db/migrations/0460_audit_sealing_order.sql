-- Only the sealer places entries, each after the one before it. Otherwise somebody who may write rows could insert an entry at any
-- position, and nothing after it could be signed.
create trigger audit_entries_unplaced before insert on audit_entries
  for each row when (new.position is not null) execute function refuse_checkpoint_change();

create function refuse_sealing_gap() returns trigger language plpgsql as $$
declare
  first bigint;
  last bigint;
  entries bigint;
begin
  select min(position), max(position), count(*) into first, last, entries from sealed;
  if entries > 0 and (last - first + 1 <> entries or first <> 1 + coalesce(
    (select max(position) from audit_entries where position < first), (select size from audit_start), 0)) then
    raise exception 'the audit log cannot be changed';
  end if;
  return null;
end
$$;
create trigger audit_entries_in_order after update on audit_entries referencing new table as sealed
  for each statement execute function refuse_sealing_gap();

-- See 0420: PostgreSQL would look for tables among the temporary ones first. A migration that adds or replaces a trigger function of
-- the audit log must set this, too; a test compares all of them.
do $$
declare
  name regprocedure;
begin
  for name in select oid from pg_proc where pronamespace = current_schema()::regnamespace
    and prorettype = 'trigger'::regtype and proname ~ '^(audit|refuse)_'
  loop
    execute format('alter function %s set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end
$$;
