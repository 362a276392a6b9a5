-- Why a prepared or pending row is to fail as soon as nothing that was signed can commit it. Nothing is sent for it
-- meanwhile.
alter table participations add column ending_reason text;
create index participations_ending on participations (chain, check_at)
  where ending_reason is not null and status in ('prepared', 'pending');

-- The entry names who ended the row, because the service fails it later.
create or replace function audit_participation() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' or new.status <> old.status then
    perform audit('participation.' || new.status, audit_system(), audit_object('participation', new.id::text), new.reason,
      new.reason);
  end if;
  if tg_op = 'UPDATE' and new.frozen_reason is distinct from old.frozen_reason then
    perform audit(case when new.frozen_reason is null then 'participation.unfrozen' else 'participation.frozen' end,
      audit_system(), audit_object('participation', new.id::text), new.frozen_reason, new.frozen_reason);
  end if;
  if tg_op = 'UPDATE' and old.ending_reason is null and new.ending_reason is not null then
    perform audit('participation.ending', audit_system(), audit_object('participation', new.id::text), new.ending_reason,
      new.ending_reason);
  end if;
  return null;
end
$$;
