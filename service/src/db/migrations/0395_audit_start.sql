-- Where the audit log begins: its first `size` entries were deleted because they were too old. The note is signed by a key
-- that is not in the database, so nobody else can shorten the log unnoticed. It has the chain hash that the first remaining
-- entry follows.
create table audit_start (
  only_row boolean primary key default true check (only_row),
  size bigint not null,
  note text not null
);

create or replace function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.position is null and new.position is not null
    and new.written = old.written and new.entry = old.entry then return new; end if;
  if tg_op = 'DELETE' and old.position <= (select size from audit_start) then return old; end if;
  raise exception 'the audit log cannot be changed';
end
$$;

create function refuse_checkpoint_deletion() returns trigger language plpgsql as $$
begin
  if old.size < (select size from audit_start) then return old; end if;
  raise exception 'the audit log cannot be changed';
end
$$;
drop trigger audit_checkpoints_fixed on audit_checkpoints;
create trigger audit_checkpoints_fixed before update or truncate on audit_checkpoints
  for each statement execute function refuse_checkpoint_change();
create trigger audit_checkpoints_kept before delete on audit_checkpoints
  for each row execute function refuse_checkpoint_deletion();
