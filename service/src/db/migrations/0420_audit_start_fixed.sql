-- The start of the audit log only moves forward. Otherwise somebody who may write rows could raise its size, delete entries
-- and put the size back, and what is left would verify. A start that was raised without a signature stays, and
-- `causeway audit verify` names it.
create function refuse_start_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.size >= old.size then return new; end if;
  raise exception 'the audit log cannot be changed';
end
$$;
create trigger audit_start_fixed before update or delete on audit_start
  for each row execute function refuse_start_change();
create trigger audit_start_kept before truncate on audit_start
  for each statement execute function refuse_start_change();

-- PostgreSQL looks for tables among the temporary ones first, unless the search path names `pg_temp` last. A session could
-- otherwise give these functions a start or a log of its own. A migration that replaces one of them must set this again.
do $$
declare
  name regprocedure;
begin
  for name in select oid from pg_proc where pronamespace = current_schema()::regnamespace and proname in
    ('audit', 'refuse_audit_change', 'refuse_checkpoint_change', 'refuse_checkpoint_deletion', 'refuse_start_change')
  loop
    execute format('alter function %s set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end
$$;
