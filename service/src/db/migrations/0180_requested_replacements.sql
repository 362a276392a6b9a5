-- What an operator has asked for an unmined transaction. The node that holds the lease of its key carries it out and clears
-- it in the database transaction that stores the replacement, or records why it cannot.
alter table operator_transactions
  add column requested text check (requested in ('bump', 'cancel')),
  add column request_refusal text;

create function audit_replacement() returns trigger language plpgsql as $$
begin
  perform audit('transaction.' || new.requested || '_requested', audit_system(),
    audit_object('transaction', new.id::text));
  return null;
end
$$;
create trigger operator_transactions_audit_requested after update of requested on operator_transactions
  for each row when (new.requested is distinct from old.requested and new.requested is not null)
  execute function audit_replacement();
