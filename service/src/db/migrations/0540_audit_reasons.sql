-- The operator's reason for what an entry records. Free text can name a person, so the entry itself has only the SHA-256 of `salt` and
-- `reason`, and the text can be deleted without breaking the log.
create table audit_reasons (
  written bigint primary key,
  salt uuid not null,
  reason text not null
);

-- Appends an entry with the reason that the transaction has set.
create function audit_with_reason(action text, subject jsonb) returns void language plpgsql as $$
declare
  given text := nullif(current_setting('causeway.reason', true), '');
  salt uuid := gen_random_uuid();
begin
  perform audit(action, audit_system(), subject, salt || given);
  if given is not null then
    insert into audit_reasons values (currval(pg_get_serial_sequence('audit_entries', 'written')), salt, given);
  end if;
end
$$;

create or replace function audit_erasure() returns trigger language plpgsql as $$
begin
  perform audit_with_reason('user.erased', audit_object('user', new.user_id::text));
  return null;
end
$$;

create or replace function audit_offer() returns trigger language plpgsql as $$
begin
  if new.published_at is distinct from old.published_at then
    perform audit('offer.published', audit_system(), audit_object('offer', new.id::text));
  end if;
  if new.closed_at is distinct from old.closed_at then
    perform audit_with_reason('offer.closed', audit_object('offer', new.id::text));
  end if;
  return null;
end
$$;

create function audit_partner() returns trigger language plpgsql as $$
begin
  perform audit_with_reason('partner.' || case when tg_op = 'INSERT' then 'insert'
    when new.disabled_at is not distinct from old.disabled_at then 'update'
    when new.disabled_at is null then 'enabled' else 'disabled' end, audit_object('partner', new.id::text));
  return null;
end
$$;
drop trigger partners_audit on partners;
create trigger partners_audit after insert or update on partners for each row execute function audit_partner();

-- See 0014: PostgreSQL would look for tables among the temporary ones first.
do $$
declare
  name regprocedure;
begin
  for name in select oid from pg_proc where pronamespace = current_schema()::regnamespace
    and proname in ('audit_with_reason', 'audit_erasure', 'audit_offer', 'audit_partner')
  loop
    execute format('alter function %s set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end
$$;
