-- Entries name the reason if it is a code. Free text, which could name a person, is only hashed.
create function audit(action text, actor jsonb, subject jsonb, detail text, reason text) returns void language sql as $$
  insert into audit_entries (entry) values (jsonb_build_object('object', 'audit_entry',
    'at', to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'action', action, 'actor', actor, 'subject', subject,
    'reason', case when reason ~ '^[A-Za-z_]+(: [a-z_]+)?$' then reason end,
    'request_id', nullif(current_setting('causeway.request_id', true), ''),
    'detail_sha256', case when detail is not null then encode(sha256(convert_to(detail, 'UTF8')), 'hex') end)::text)
$$;
create or replace function audit(action text, actor jsonb, subject jsonb, detail text default null)
returns void language sql as $$
  select audit(action, actor, subject, detail, null)
$$;

-- Transactions of a request name its caller; commands name themselves; everything else is the service.
create or replace function audit_system() returns jsonb language sql stable as $$
  select case when current_setting('causeway.actor', true) <> '' then current_setting('causeway.actor', true)::jsonb
    when current_setting('application_name', true) = 'causeway-command' then audit_object('command', null)
    else audit_object('service', null) end
$$;

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
  return null;
end
$$;

-- Records a changed row. Arguments: what the row is, its column with the id, and its columns with the state and the
-- reason, if it has them.
create function audit_row() returns trigger language plpgsql as $$
declare
  changed jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
begin
  perform audit(tg_argv[0] || '.' || case tg_op when 'DELETE' then 'deleted' else coalesce(changed ->> tg_argv[2], lower(tg_op)) end,
    audit_system(), audit_object(tg_argv[0], changed ->> tg_argv[1]), null, changed ->> tg_argv[3]);
  return null;
end
$$;

-- Eligibility: what the provider decided, what the rules made of it, and what an operator approved.
create trigger identity_reviews_audit_new after insert on identity_reviews
  for each row execute function audit_row('identity_review', 'user_id', 'review_status', 'level_name');
create trigger identity_reviews_audit after update on identity_reviews for each row
  when ((old.review_status, old.answer, old.reject_type) is distinct from (new.review_status, new.answer, new.reject_type))
  execute function audit_row('identity_review', 'user_id', 'review_status', 'level_name');
create trigger document_submissions_audit_new after insert on document_submissions
  for each row execute function audit_row('document_submission', 'id', 'status', '');
create trigger document_submissions_audit after update of status on document_submissions
  for each row when (old.status <> new.status) execute function audit_row('document_submission', 'id', 'status', '');
create trigger country_changes_audit after insert or update on country_changes
  for each row execute function audit_row('country_change', 'user_id', '', '');
create function audit_requirement() returns trigger language plpgsql as $$
begin
  perform audit('requirement.' || new.status, audit_system(), audit_object('user', new.user_id::text),
    new.requirement_id::text, new.action);
  return null;
end
$$;
create trigger reported_statuses_audit after insert or update on reported_statuses
  for each row execute function audit_requirement();

-- Permission: wallets that were bound, permitted on an allow-list and revoked there.
create trigger option_addresses_audit after insert or delete on option_addresses
  for each row execute function audit_row('option_address', 'id', '', '');
create trigger allow_verifications_audit_new after insert on allow_verifications
  for each row execute function audit_row('wallet_permission', 'id', 'state', '');
create trigger allow_verifications_audit after update of state on allow_verifications
  for each row when (old.state <> new.state) execute function audit_row('wallet_permission', 'id', 'state', '');
create trigger allow_revocations_audit_new after insert on allow_revocations
  for each row execute function audit_row('wallet_revocation', 'id', 'state', '');
create trigger allow_revocations_audit after update of state on allow_revocations
  for each row when (old.state <> new.state) execute function audit_row('wallet_revocation', 'id', 'state', '');

-- Settlement: what was signed and what became of it, orders, pauses.
create function audit_transaction() returns trigger language plpgsql as $$
begin
  perform audit('transaction.' || new.state, audit_system(), audit_object('transaction', new.id::text), null, new.kind);
  return null;
end
$$;
create trigger operator_transactions_audit_new after insert on operator_transactions
  for each row execute function audit_transaction();
create trigger operator_transactions_audit after update of state on operator_transactions
  for each row when (old.state <> new.state) execute function audit_transaction();
create function audit_order() returns trigger language plpgsql as $$
begin
  perform audit('tokenized_order.' || new.state, audit_system(), audit_object('tokenized_order', new.id::text));
  return null;
end
$$;
create trigger tokenized_orders_audit_new after insert on tokenized_orders for each row execute function audit_order();
create trigger tokenized_orders_audit after update of state on tokenized_orders
  for each row when (old.state <> new.state) execute function audit_order();
create trigger settlement_pauses_audit after insert or delete on settlement_pauses
  for each row execute function audit_row('settlement_pause', 'subject', '', 'reason');

-- What partners and offers are.
create trigger partners_audit after insert or update on partners
  for each row execute function audit_row('partner', 'id', '', '');
create trigger offers_audit_new after insert on offers for each row execute function audit_row('offer', 'id', '', '');
create trigger offers_audit_change after update on offers
  for each row when (old.updated_at <> new.updated_at) execute function audit_row('offer', 'id', '', '');
create trigger webhook_endpoints_audit_new after insert on webhook_endpoints
  for each row execute function audit_row('webhook_endpoint', 'id', '', '');
create trigger webhook_endpoints_audit after update on webhook_endpoints for each row
  when ((old.url, old.types, old.state, old.sealed_secret, old.deleted_at)
    is distinct from (new.url, new.types, new.state, new.sealed_secret, new.deleted_at))
  execute function audit_row('webhook_endpoint', 'id', 'state', 'disabled_reason');
