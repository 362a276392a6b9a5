create or replace function audit_offer() returns trigger language plpgsql as $$
begin
  if new.published_at is distinct from old.published_at then
    perform audit('offer.published', audit_system(), audit_object('offer', new.id::text));
  end if;
  if new.closed_at is distinct from old.closed_at then
    perform audit_with_reason(case when new.closed_at is null then 'offer.reopened' else 'offer.closed' end,
      audit_object('offer', new.id::text));
  end if;
  return null;
end
$$;

-- See 0014: PostgreSQL would look for tables among the temporary ones first.
do $$
begin
  execute format('alter function audit_offer() set search_path = pg_catalog, %I, pg_temp', current_schema());
end
$$;
