-- The audit log. Entries are written in the transaction of what they report, by triggers, so that no path can forget them.
-- They have ids and no personal data. One sealer gives committed entries their position and appends their hashes to the tree
-- (see `audit/sealer.ts`): a tree that the writing transactions extend would serialise them, or fork.
create table audit_entries (
  written bigint generated always as identity primary key,
  -- JSON, hashed as stored.
  entry text not null,
  position bigint unique
);
create index audit_entries_unsealed on audit_entries (written) where position is null;

-- Signed notes with the root of the tree over the first `size` entries. The key is not in the database.
create table audit_checkpoints (
  size bigint primary key check (size > 0),
  note text not null,
  at timestamptz not null default now()
);

-- Where the audit log begins: its first `size` entries, over which the tree has this root, were deleted because they were too
-- old. The tag is made with a key that is not in the database, so nobody else can shorten the log unnoticed.
create table audit_start (
  only_row boolean primary key default true check (only_row),
  size bigint not null,
  root_hash bytea not null,
  tag bytea not null
);

-- A Merkle tree (RFC 6962) over the audit log, as tiles of up to 256 hashes (C2SP tlog-tiles): level 0 has the leaves, and each
-- hash of level n + 1 is the root of a full tile of level n. The sealer appends to them and signs a checkpoint in one
-- transaction, so they always cover the same entries. They stay when entries are deleted.
create table audit_tiles (
  level smallint not null,
  index bigint not null,
  hashes bytea not null check (octet_length(hashes) % 32 = 0 and octet_length(hashes) between 32 and 8192),
  primary key (level, index)
);
-- Hashes do not compress.
alter table audit_tiles alter column hashes set storage external;

-- The operator's reason for what an entry records. Free text can name a person, so the entry itself has only the SHA-256 of `salt` and
-- `reason`, and the text can be deleted without breaking the log.
create table audit_reasons (
  written bigint primary key,
  salt uuid not null,
  reason text not null
);

-- The tiles are public. Leaves have a salt derived from this key, because entries without one could be guessed.
create table audit_blinding (
  only_row boolean primary key default true check (only_row),
  key bytea not null
);
insert into audit_blinding (key)
  values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

-- Public keys that verify checkpoints signed with a secret that is no longer listed. Such a key may verify checkpoints of the
-- first `size` entries only, and the tree over those entries must still have this root: otherwise somebody who has the database
-- and a removed secret could rewrite the log and sign it again. The tag, made with a listed secret, covers all three.
create table audit_former_keys (
  public_key bytea primary key check (octet_length(public_key) = 32),
  size bigint not null,
  root_hash bytea not null,
  tag bytea not null
);

-- What protects the log itself.
create function refuse_checkpoint_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log cannot be changed';
end
$$;
create trigger audit_checkpoints_fixed before update or truncate on audit_checkpoints
  for each statement execute function refuse_checkpoint_change();
create trigger audit_entries_kept before truncate on audit_entries
  for each statement execute function refuse_checkpoint_change();
-- Only the sealer places entries, each after the one before it. Otherwise somebody who may write rows could insert an entry at
-- any position, and nothing after it could be signed.
create trigger audit_entries_unplaced before insert on audit_entries
  for each row when (new.position is not null) execute function refuse_checkpoint_change();
create trigger audit_tiles_kept before truncate on audit_tiles
  for each statement execute function refuse_checkpoint_change();
create trigger audit_blinding_fixed before update or delete or truncate on audit_blinding
  for each statement execute function refuse_checkpoint_change();

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.position is null and new.position is not null
    and new.written = old.written and new.entry = old.entry then return new; end if;
  if tg_op = 'DELETE' and old.position <= (select size from audit_start) then return old; end if;
  raise exception 'the audit log cannot be changed';
end
$$;
create trigger audit_entries_fixed before update or delete on audit_entries
  for each row execute function refuse_audit_change();

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

create function refuse_checkpoint_deletion() returns trigger language plpgsql as $$
begin
  if old.size < (select size from audit_start) then return old; end if;
  raise exception 'the audit log cannot be changed';
end
$$;
create trigger audit_checkpoints_kept before delete on audit_checkpoints
  for each row execute function refuse_checkpoint_deletion();

create function refuse_tile_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.level = old.level and new.index = old.index
    and substr(new.hashes, 1, octet_length(old.hashes)) = old.hashes then return new; end if;
  raise exception 'the audit log cannot be changed';
end
$$;
create trigger audit_tiles_fixed before update or delete on audit_tiles
  for each row execute function refuse_tile_change();

create function audit_object(object text, id text) returns jsonb language sql immutable as $$
  select jsonb_build_object('object', object, 'id', id)
$$;

-- Transactions of a request name its caller; commands name themselves; everything else is the service.
create function audit_system() returns jsonb language sql stable as $$
  select case when current_setting('causeway.actor', true) <> '' then current_setting('causeway.actor', true)::jsonb
    when current_setting('application_name', true) = 'causeway-command' then audit_object('command', null)
    else audit_object('service', null) end
$$;

-- Appends an entry. `actor` and `subject` are objects with `object` and `id`. Entries name the reason if it is a code. Free text,
-- which could name a person, is only hashed.
create function audit(action text, actor jsonb, subject jsonb, detail text, reason text) returns void language sql as $$
  insert into audit_entries (entry) values (jsonb_build_object('object', 'audit_entry',
    'at', to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'action', action, 'actor', actor, 'subject', subject,
    'reason', case when reason ~ '^[A-Za-z_]+(: [a-z_]+)?$' then reason end,
    'request_id', nullif(current_setting('causeway.request_id', true), ''),
    'detail_sha256', case when detail is not null then encode(sha256(convert_to(detail, 'UTF8')), 'hex') end)::text)
$$;
create function audit(action text, actor jsonb, subject jsonb, detail text default null)
returns void language sql as $$
  select audit(action, actor, subject, detail, null)
$$;

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

-- Accounts: sign-ins, passwords, second factors, holds and erasure. The service itself records failed sign-ins, because
-- sign_in_failures counts attempts before the password is checked, and mails too.
create function audit_sign_in() returns trigger language plpgsql as $$
begin
  perform audit('user.signed_in', audit_object('user', new.user_id::text), audit_object('user', new.user_id::text), new.method);
  return null;
end
$$;
create trigger browser_sessions_audit after insert on browser_sessions for each row execute function audit_sign_in();

-- A hash with newer parameters is no new password.
create function audit_password() returns trigger language plpgsql as $$
begin
  perform audit(case when current_setting('causeway.rehash', true) = 'on' then 'user.password_rehashed'
    else 'user.password_changed' end, audit_object('user', new.id::text), audit_object('user', new.id::text));
  return null;
end
$$;
create trigger users_password_audit after update of password_hash on users
  for each row when (old.password_hash is distinct from new.password_hash) execute function audit_password();

create function audit_email() returns trigger language plpgsql as $$
begin
  perform audit('user.email_changed', audit_system(), audit_object('user', new.id::text));
  return null;
end
$$;
-- Erasure replaces the address with a placeholder and has an entry of its own.
create trigger users_email_audit after update of email on users
  for each row when (old.email <> new.email and new.email not like 'erased-%@erased.invalid') execute function audit_email();

create function audit_passkey() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform audit('user.passkey_added', audit_object('user', new.user_id::text), audit_object('passkey', new.id::text));
  else
    perform audit('user.passkey_removed', audit_object('user', old.user_id::text), audit_object('passkey', old.id::text));
  end if;
  return null;
end
$$;
create trigger passkeys_audit after insert or delete on passkeys for each row execute function audit_passkey();

create function audit_totp() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform audit('user.second_factor_removed', audit_system(), audit_object('user', old.user_id::text));
    return null;
  end if;
  perform audit('user.second_factor_added', audit_system(), audit_object('user', new.user_id::text));
  return null;
end
$$;
create trigger totp_secrets_audit_added after update of confirmed_at on totp_secrets
  for each row when (old.confirmed_at is null and new.confirmed_at is not null) execute function audit_totp();
create trigger totp_secrets_audit_removed after delete on totp_secrets
  for each row when (old.confirmed_at is not null) execute function audit_totp();

create function audit_hold() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform audit('user.held', audit_system(), audit_object('user', new.user_id::text), new.id::text || new.reason);
  elsif old.released_at is null and new.released_at is not null then
    perform audit('user.released', audit_system(), audit_object('user', new.user_id::text), new.id::text || new.release_reason);
  end if;
  return null;
end
$$;
create trigger user_holds_audit after insert or update on user_holds for each row execute function audit_hold();

create function audit_erasure() returns trigger language plpgsql as $$
begin
  perform audit_with_reason('user.erased', audit_object('user', new.user_id::text));
  return null;
end
$$;
create trigger erasures_audit after insert on erasures for each row execute function audit_erasure();

create function audit_pii() returns trigger language plpgsql as $$
begin
  perform audit('personal_data.' || new.action, audit_object('actor', new.actor), audit_object('user', new.user_id::text),
    array_to_string(new.fields, ' '));
  return null;
end
$$;
create trigger pii_audit_audit after insert on pii_audit for each row execute function audit_pii();

-- Consents. A grant that a new browser gets without a question keeps the time of the consent that it repeats. A consent that
-- adds scopes to a grant changes that time. The user ends a consent, or a command or the caller of a request does so; then the
-- entry names the user as well.
create function audit_grant() returns trigger language plpgsql as $$
declare
  granting jsonb := audit_object('user', new.user_id::text);
  client jsonb := audit_object('client', new.client_id);
begin
  if tg_op = 'INSERT' and new.consented_at < now() then
    perform audit('consent.reused', granting, client, new.payload #>> '{openid,scope}');
  elsif tg_op = 'INSERT' or new.consented_at <> old.consented_at then
    perform audit('consent.given', granting, client, new.payload #>> '{openid,scope}');
  elsif old.revoked_at is null and new.revoked_at is not null then
    if audit_system() ->> 'object' = 'service' then
      perform audit('consent.ended', granting, client);
    else
      perform audit('consent.ended', audit_system(), client || jsonb_build_object('user_id', new.user_id));
    end if;
  end if;
  return null;
end
$$;
create trigger oauth_grants_audit after insert or update of revoked_at, consented_at on oauth_grants
  for each row execute function audit_grant();

-- What partners and offers are.
create function audit_partner() returns trigger language plpgsql as $$
begin
  perform audit_with_reason('partner.' || case when tg_op = 'INSERT' then 'insert'
    when new.disabled_at is not distinct from old.disabled_at then 'update'
    when new.disabled_at is null then 'enabled' else 'disabled' end, audit_object('partner', new.id::text));
  return null;
end
$$;
create trigger partners_audit after insert or update on partners for each row execute function audit_partner();

create function audit_client() returns trigger language plpgsql as $$
begin
  perform audit('client.' || lower(tg_op), audit_system(), audit_object('client', new.client_id),
    array_to_string(new.redirect_uris || new.scopes, ' ') || encode(new.secret_hash, 'hex'));
  return null;
end
$$;
create trigger oauth_clients_audit after insert or update on oauth_clients for each row execute function audit_client();
create trigger webhook_endpoints_audit_new after insert on webhook_endpoints
  for each row execute function audit_row('webhook_endpoint', 'id', '', '');
create trigger webhook_endpoints_audit after update on webhook_endpoints for each row
  when ((old.url, old.types, old.state, old.sealed_secret, old.deleted_at)
    is distinct from (new.url, new.types, new.state, new.sealed_secret, new.deleted_at))
  execute function audit_row('webhook_endpoint', 'id', 'state', 'disabled_reason');
create function audit_offer() returns trigger language plpgsql as $$
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
create trigger offers_audit after update on offers for each row execute function audit_offer();
create trigger offers_audit_new after insert on offers for each row execute function audit_row('offer', 'id', '', '');
create trigger offers_audit_change after update on offers
  for each row when (old.updated_at <> new.updated_at) execute function audit_row('offer', 'id', '', '');

-- Eligibility: what the provider decided, what the user acknowledged, what the rules made of it, and what an operator approved.
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
create function audit_acknowledgement() returns trigger language plpgsql as $$
begin
  perform audit('acknowledgement.recorded', audit_object('user', new.user_id::text), audit_object('offer', new.offer_id::text),
    concat_ws(' ', new.id, new.client_id, new.document, new.version, new.sha256));
  return null;
end
$$;
create trigger acknowledgements_audit after insert on acknowledgements
  for each row execute function audit_acknowledgement();
create function audit_sanctions_hit() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform audit('sanctions.hit', audit_system(), audit_object(new.subject, new.subject_id::text), new.id::text || new.address);
  elsif old.cleared_at is null and new.cleared_at is not null then
    perform audit('sanctions.cleared', audit_system(), audit_object(new.subject, new.subject_id::text),
      new.id::text || new.clear_reason);
  end if;
  return null;
end
$$;
create trigger sanctions_hits_audit after insert or update on sanctions_hits
  for each row execute function audit_sanctions_hit();

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

-- Decisions about money: every status of a participation, freezing and ending. The entry of an ending names who ended the row,
-- because the service fails it later.
create function audit_participation() returns trigger language plpgsql as $$
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
create trigger participations_audit after insert or update on participations
  for each row execute function audit_participation();
create trigger refund_requests_audit after insert or update on refund_requests
  for each row execute function audit_row('refund_request', 'id', 'state', '');
create trigger refund_limits_audit after insert on refund_limits
  for each row execute function audit_row('refund_limit', 'id', '', 'limit_usd');

-- Settlement: what was signed and what became of it, what an operator requested, orders, pauses and differences.
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

-- PostgreSQL looks for tables among the temporary ones first, unless the search path names `pg_temp` last. A session could
-- otherwise give these functions a start or a log of its own. A migration that adds or replaces a trigger function of the audit
-- log must set this, too; a test compares all of them.
do $$
declare
  name regprocedure;
begin
  for name in select oid from pg_proc where pronamespace = current_schema()::regnamespace
    and (proname in ('audit', 'audit_with_reason') or (prorettype = 'trigger'::regtype and proname ~ '^(audit|refuse)_'))
  loop
    execute format('alter function %s set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end
$$;
