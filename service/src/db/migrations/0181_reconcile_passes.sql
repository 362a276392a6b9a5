-- When a chain was last compared with the database, and up to which block.
create table reconcile_passes (
  chain text primary key,
  to_block bigint,
  started_at timestamptz not null
);

-- What the background comparison found. `accepted_at`: an operator has resumed the offer in spite of it.
create table reconcile_differences (
  chain text not null,
  key text not null,
  offer_ids text[] not null,
  participation_ids text[] not null,
  transaction_hashes text[] not null,
  message text not null,
  found_at timestamptz not null default now(),
  accepted_at timestamptz,
  primary key (chain, key)
);

create function audit_difference() returns trigger language plpgsql as $$
begin
  perform audit(case when tg_op = 'INSERT' then 'reconcile.difference_found' else 'reconcile.difference_accepted' end,
    audit_system(), audit_object('reconcile_difference', new.key), new.message);
  return null;
end
$$;
create trigger reconcile_differences_audit_new after insert on reconcile_differences
  for each row execute function audit_difference();
create trigger reconcile_differences_audit after update of accepted_at on reconcile_differences
  for each row when (old.accepted_at is null and new.accepted_at is not null) execute function audit_difference();
