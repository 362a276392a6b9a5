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

-- Records a changed row. The arguments are a line of the table below.
create function audit_row() returns trigger language plpgsql as $$
declare
  changed jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
  action text := tg_argv[0];
  state text := substring(action from '\{(\w+)\}');
  named text[] := string_to_array(tg_argv[1], ' ');
  acting text[] := string_to_array(tg_argv[2], ' ');
  subject jsonb := audit_object(coalesce(changed ->> named[1], named[1]), changed ->> named[2]);
  actor jsonb := audit_system();
begin
  if state is not null then action := replace(action, '{' || state || '}', changed ->> state); end if;
  if named[3] is not null then subject := subject || jsonb_build_object(named[3], changed -> named[3]); end if;
  if acting[3] is null and acting[1] is not null or acting[3] = 'unless_called' and actor ->> 'object' = 'service' then
    actor := audit_object(acting[1], changed ->> acting[2]);
  end if;
  if tg_argv[4] = 'given' then
    perform audit_with_reason(action, subject);
  else
    perform audit(action, actor, subject, (
      select nullif(string_agg(changed #>> string_to_array(path, '.'), ' ' order by n), '')
      from unnest(string_to_array(tg_argv[3], ' ')) with ordinality as detail (path, n)), changed ->> tg_argv[4]);
  end if;
  return null;
end
$$;

-- What is recorded: the table, the operation, the condition, and
-- - the action, in which {column} stands for the value of a column.
-- - the subject: what it is (or the column that says so), the column with its id, and another column to name.
-- - the actor: what it is and the column with its id. Empty: who called, see `audit_system`. With `unless_called`, the actor
--   counts only if nobody called.
-- - the columns whose values the entry has the hash of.
-- - the column with the reason; `given` for the reason that the transaction has set.
do $$
declare
  rule record;
  n integer := 0;
begin
  for rule in select * from (values
    -- Accounts. The service itself records failed sign-ins, because sign_in_failures counts attempts before the password is
    -- checked, and mails too. A hash with newer parameters is no new password. Erasure replaces the address with a placeholder
    -- and has an entry of its own.
    ('browser_sessions', 'insert', 'true', 'user.signed_in', 'user user_id', 'user user_id', 'method', ''),
    ('users', 'update', 'old.password_hash is distinct from new.password_hash
      and current_setting(''causeway.rehash'', true) is distinct from ''on''', 'user.password_changed', 'user id', 'user id', '', ''),
    ('users', 'update', 'old.password_hash is distinct from new.password_hash
      and current_setting(''causeway.rehash'', true) = ''on''', 'user.password_rehashed', 'user id', 'user id', '', ''),
    ('users', 'update', 'old.email <> new.email and new.email not like ''erased-%@erased.invalid''',
      'user.email_changed', 'user id', '', '', ''),
    ('passkeys', 'insert', 'true', 'user.passkey_added', 'passkey id', 'user user_id', '', ''),
    ('passkeys', 'delete', 'true', 'user.passkey_removed', 'passkey id', 'user user_id', '', ''),
    ('totp_secrets', 'update', 'old.confirmed_at is null and new.confirmed_at is not null',
      'user.second_factor_added', 'user user_id', '', '', ''),
    ('totp_secrets', 'delete', 'old.confirmed_at is not null', 'user.second_factor_removed', 'user user_id', '', '', ''),
    ('user_holds', 'insert', 'true', 'user.held', 'user user_id', '', 'id reason', ''),
    ('user_holds', 'update', 'old.released_at is null and new.released_at is not null',
      'user.released', 'user user_id', '', 'id release_reason', ''),
    ('erasures', 'insert', 'true', 'user.erased', 'user user_id', '', '', 'given'),
    ('pii_audit', 'insert', 'true', 'personal_data.{action}', 'user user_id', 'actor actor', 'fields', ''),

    -- Consents. A grant that a new browser gets without a question keeps the time of the consent that it repeats. A consent that
    -- adds scopes to a grant changes that time. The user ends a consent, or a command or the caller of a request does so.
    ('oauth_grants', 'insert', 'new.consented_at < now()', 'consent.reused', 'client client_id', 'user user_id',
      'payload.openid.scope', ''),
    ('oauth_grants', 'insert', 'new.consented_at >= now()', 'consent.given', 'client client_id', 'user user_id',
      'payload.openid.scope', ''),
    ('oauth_grants', 'update', 'new.consented_at <> old.consented_at', 'consent.given', 'client client_id', 'user user_id',
      'payload.openid.scope', ''),
    ('oauth_grants', 'update', 'new.consented_at = old.consented_at and old.revoked_at is null and new.revoked_at is not null',
      'consent.ended', 'client client_id user_id', 'user user_id unless_called', '', ''),

    -- What partners and offers are.
    ('partners', 'insert', 'true', 'partner.insert', 'partner id', '', '', 'given'),
    ('partners', 'update', 'new.disabled_at is not distinct from old.disabled_at', 'partner.update', 'partner id', '', '', 'given'),
    ('partners', 'update', 'old.disabled_at is not null and new.disabled_at is null', 'partner.enabled', 'partner id', '', '', 'given'),
    ('partners', 'update', 'new.disabled_at is not null and new.disabled_at is distinct from old.disabled_at',
      'partner.disabled', 'partner id', '', '', 'given'),
    ('oauth_clients', 'insert', 'true', 'client.insert', 'client client_id', '', 'redirect_uris scopes secret_hash', ''),
    ('oauth_clients', 'update', 'true', 'client.update', 'client client_id', '', 'redirect_uris scopes secret_hash', ''),
    ('webhook_endpoints', 'insert', 'true', 'webhook_endpoint.insert', 'webhook_endpoint id', '', '', ''),
    ('webhook_endpoints', 'update', '(old.url, old.types, old.state, old.sealed_secret, old.deleted_at)
      is distinct from (new.url, new.types, new.state, new.sealed_secret, new.deleted_at)',
      'webhook_endpoint.{state}', 'webhook_endpoint id', '', '', 'disabled_reason'),
    ('offers', 'update', 'new.published_at is distinct from old.published_at', 'offer.published', 'offer id', '', '', ''),
    ('offers', 'update', 'new.closed_at is not null and new.closed_at is distinct from old.closed_at',
      'offer.closed', 'offer id', '', '', 'given'),
    ('offers', 'update', 'new.closed_at is null and old.closed_at is not null', 'offer.reopened', 'offer id', '', '', 'given'),
    ('offers', 'insert', 'true', 'offer.insert', 'offer id', '', '', ''),
    ('offers', 'update', 'old.updated_at <> new.updated_at', 'offer.update', 'offer id', '', '', ''),

    -- Eligibility: what the provider decided, what the user acknowledged, what the rules made of it, and what an operator approved.
    ('identity_reviews', 'insert', 'true', 'identity_review.{review_status}', 'identity_review user_id', '', '', 'level_name'),
    ('identity_reviews', 'update', '(old.review_status, old.answer, old.reject_type)
      is distinct from (new.review_status, new.answer, new.reject_type)',
      'identity_review.{review_status}', 'identity_review user_id', '', '', 'level_name'),
    ('document_submissions', 'insert', 'true', 'document_submission.{status}', 'document_submission id', '', '', ''),
    ('document_submissions', 'update', 'old.status <> new.status', 'document_submission.{status}', 'document_submission id', '', '', ''),
    ('country_changes', 'insert', 'true', 'country_change.insert', 'country_change user_id', '', '', ''),
    ('country_changes', 'update', 'true', 'country_change.update', 'country_change user_id', '', '', ''),
    ('reported_statuses', 'insert or update', 'true', 'requirement.{status}', 'user user_id', '', 'requirement_id', 'action'),
    ('acknowledgements', 'insert', 'true', 'acknowledgement.recorded', 'offer offer_id', 'user user_id',
      'id client_id document version sha256', ''),
    ('sanctions_hits', 'insert', 'true', 'sanctions.hit', 'subject subject_id', '', 'id address', ''),
    ('sanctions_hits', 'update', 'old.cleared_at is null and new.cleared_at is not null',
      'sanctions.cleared', 'subject subject_id', '', 'id clear_reason', ''),

    -- Permission: wallets that were bound, permitted on an allow-list and revoked there.
    ('option_addresses', 'insert', 'true', 'option_address.insert', 'option_address id', '', '', ''),
    ('option_addresses', 'delete', 'true', 'option_address.deleted', 'option_address id', '', '', ''),
    ('allow_verifications', 'insert', 'true', 'wallet_permission.{state}', 'wallet_permission id', '', '', ''),
    ('allow_verifications', 'update', 'old.state <> new.state', 'wallet_permission.{state}', 'wallet_permission id', '', '', ''),
    ('allow_revocations', 'insert', 'true', 'wallet_revocation.{state}', 'wallet_revocation id', '', '', ''),
    ('allow_revocations', 'update', 'old.state <> new.state', 'wallet_revocation.{state}', 'wallet_revocation id', '', '', ''),

    -- Decisions about money: every status of a participation, freezing and ending. The entry of an ending names who ended the
    -- row, because the service fails it later.
    ('participations', 'insert', 'true', 'participation.{status}', 'participation id', '', 'reason', 'reason'),
    ('participations', 'update', 'old.status <> new.status', 'participation.{status}', 'participation id', '', 'reason', 'reason'),
    ('participations', 'update', 'new.frozen_reason is not null and new.frozen_reason is distinct from old.frozen_reason',
      'participation.frozen', 'participation id', '', 'frozen_reason', 'frozen_reason'),
    ('participations', 'update', 'new.frozen_reason is null and old.frozen_reason is not null',
      'participation.unfrozen', 'participation id', '', '', ''),
    ('participations', 'update', 'old.ending_reason is null and new.ending_reason is not null',
      'participation.ending', 'participation id', '', 'ending_reason', 'ending_reason'),
    ('refund_requests', 'insert or update', 'true', 'refund_request.{state}', 'refund_request id', '', '', ''),
    ('refund_limits', 'insert', 'true', 'refund_limit.insert', 'refund_limit id', '', 'limit_usd', ''),

    -- Settlement: what was signed and what became of it, what an operator requested, orders, pauses and differences.
    ('operator_transactions', 'insert', 'true', 'transaction.{state}', 'transaction id', '', '', 'kind'),
    ('operator_transactions', 'update', 'old.state <> new.state', 'transaction.{state}', 'transaction id', '', '', 'kind'),
    ('operator_transactions', 'update', 'new.requested is distinct from old.requested and new.requested is not null',
      'transaction.{requested}_requested', 'transaction id', '', '', ''),
    ('tokenized_orders', 'insert', 'true', 'tokenized_order.{state}', 'tokenized_order id', '', '', ''),
    ('tokenized_orders', 'update', 'old.state <> new.state', 'tokenized_order.{state}', 'tokenized_order id', '', '', ''),
    ('settlement_pauses', 'insert', 'true', 'settlement_pause.insert', 'settlement_pause subject', '', '', 'reason'),
    ('settlement_pauses', 'delete', 'true', 'settlement_pause.deleted', 'settlement_pause subject', '', '', 'reason'),
    ('reconcile_differences', 'insert', 'true', 'reconcile.difference_found', 'reconcile_difference key', '', 'message', ''),
    ('reconcile_differences', 'update', 'old.accepted_at is null and new.accepted_at is not null',
      'reconcile.difference_accepted', 'reconcile_difference key', '', 'message', '')
  ) as rules (changed, operation, condition, action, subject, actor, detail, reason)
  loop
    n := n + 1;
    execute format('create trigger audit_%s after %s on %I for each row when (%s) execute function audit_row(%L, %L, %L, %L, %L)',
      to_char(n, 'FM00'), rule.operation, rule.changed, rule.condition, rule.action, rule.subject, rule.actor, rule.detail, rule.reason);
  end loop;
end
$$;

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
