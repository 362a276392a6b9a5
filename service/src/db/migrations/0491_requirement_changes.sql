-- A change of an offer changes statuses, too: who has read a document must read its new version. The users whose status was
-- reported are checked again. The check reads the offer in its own transaction, because a node may still have the former
-- one in its cache.
alter table status_checks add column has_new_offers boolean not null default false;

create function mark_requirement_checks() returns trigger language plpgsql as $$
begin
  insert into status_checks (user_id, due_at, has_new_offers)
    select distinct s.user_id, '-infinity'::timestamptz, true from reported_statuses s join requirements r on r.id = s.requirement_id
    where case tg_table_name when 'requirements' then r.id = new.id else r.option_id = new.id end
    order by s.user_id
    on conflict (user_id) do update set due_at = '-infinity', has_new_offers = true;
  return null;
end
$$;
create constraint trigger requirements_status after update on requirements
  deferrable initially deferred for each row when (old.details is distinct from new.details)
  execute function mark_requirement_checks();
create constraint trigger offer_options_status after update on offer_options
  deferrable initially deferred for each row when (old.accreditation_days is distinct from new.accreditation_days)
  execute function mark_requirement_checks();
