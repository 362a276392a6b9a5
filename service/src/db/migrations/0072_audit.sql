-- The audit log. Entries are written in the transaction of what they report, by triggers, so that no path can forget them.
-- They have ids and no personal data. One sealer gives committed entries their place and hashes (see `audit/sealer.ts`):
-- a chain made in the writing transactions would serialise them, or fork.
create table audit_entries (
  written bigint generated always as identity primary key,
  -- JSON, hashed as stored.
  entry text not null,
  position bigint unique,
  leaf_hash bytea,
  chain_hash bytea,
  check ((position is null) = (leaf_hash is null) and (position is null) = (chain_hash is null))
);
create index audit_entries_unsealed on audit_entries (written) where position is null;

-- Signed notes about the first `size` entries. The key is not in the database.
create table audit_checkpoints (
  size bigint primary key,
  note text not null,
  at timestamptz not null default now()
);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.position is null and new.position is not null
    and new.written = old.written and new.entry = old.entry then return new; end if;
  raise exception 'the audit log cannot be changed';
end
$$;
create trigger audit_entries_fixed before update or delete on audit_entries
  for each row execute function refuse_audit_change();
create function refuse_checkpoint_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log cannot be changed';
end
$$;
create trigger audit_checkpoints_fixed before update or delete or truncate on audit_checkpoints
  for each statement execute function refuse_checkpoint_change();
create trigger audit_entries_kept before truncate on audit_entries
  for each statement execute function refuse_checkpoint_change();

-- Appends an entry. `actor` and `subject` are objects with `object` and `id`.
create function audit(action text, actor jsonb, subject jsonb, detail text default null) returns void language sql as $$
  insert into audit_entries (entry) values (jsonb_build_object('object', 'audit_entry',
    'at', to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'action', action, 'actor', actor, 'subject', subject,
    'request_id', nullif(current_setting('causeway.request_id', true), ''),
    'detail_sha256', case when detail is not null then encode(sha256(convert_to(detail, 'UTF8')), 'hex') end)::text)
$$;

create function audit_object(object text, id text) returns jsonb language sql immutable as $$
  select jsonb_build_object('object', object, 'id', id)
$$;

-- Commands name themselves; everything else that has no user is the service.
create function audit_system() returns jsonb language sql stable as $$
  select case when current_setting('application_name', true) = 'causeway-command'
    then audit_object('command', null) else audit_object('service', null) end
$$;

create function audit_sign_in() returns trigger language plpgsql as $$
begin
  perform audit('user.signed_in', audit_object('user', new.user_id::text), audit_object('user', new.user_id::text), new.method);
  return null;
end
$$;
create trigger browser_sessions_audit after insert on browser_sessions for each row execute function audit_sign_in();

create function audit_sign_in_failure() returns trigger language plpgsql as $$
begin
  perform audit('user.sign_in_failed', audit_object('anonymous', null), audit_object('sign_in', null));
  return null;
end
$$;
create trigger sign_in_failures_audit after insert or update on sign_in_failures
  for each row execute function audit_sign_in_failure();

create function audit_grant() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform audit('consent.given', audit_object('user', new.user_id::text), audit_object('client', new.client_id),
      new.payload #>> '{openid,scope}');
  elsif old.revoked_at is null and new.revoked_at is not null then
    perform audit('consent.ended', audit_object('user', new.user_id::text), audit_object('client', new.client_id));
  end if;
  return null;
end
$$;
create trigger oauth_grants_audit after insert or update of revoked_at on oauth_grants
  for each row execute function audit_grant();

create function audit_password() returns trigger language plpgsql as $$
begin
  perform audit('user.password_changed', audit_object('user', new.id::text), audit_object('user', new.id::text));
  return null;
end
$$;
create trigger users_password_audit after update of password_hash on users
  for each row when (old.password_hash is distinct from new.password_hash) execute function audit_password();

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

create function audit_pii() returns trigger language plpgsql as $$
begin
  perform audit('personal_data.' || new.action, audit_object('actor', new.actor), audit_object('user', new.user_id::text),
    array_to_string(new.fields, ' '));
  return null;
end
$$;
create trigger pii_audit_audit after insert on pii_audit for each row execute function audit_pii();

create function audit_client() returns trigger language plpgsql as $$
begin
  perform audit('client.' || lower(tg_op), audit_system(), audit_object('client', new.client_id),
    array_to_string(new.redirect_uris || new.scopes, ' ') || encode(new.secret_hash, 'hex'));
  return null;
end
$$;
create trigger oauth_clients_audit after insert or update on oauth_clients for each row execute function audit_client();

create function audit_offer() returns trigger language plpgsql as $$
begin
  if new.published_at is distinct from old.published_at then
    perform audit('offer.published', audit_system(), audit_object('offer', new.id::text));
  end if;
  if new.closed_at is distinct from old.closed_at then
    perform audit('offer.closed', audit_system(), audit_object('offer', new.id::text));
  end if;
  return null;
end
$$;
create trigger offers_audit after update on offers for each row execute function audit_offer();

-- Decisions about money: every status of a participation, and freezing.
create function audit_participation() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' or new.status <> old.status then
    perform audit('participation.' || new.status, audit_system(), audit_object('participation', new.id::text), new.reason);
  end if;
  if tg_op = 'UPDATE' and new.frozen_reason is distinct from old.frozen_reason then
    perform audit(case when new.frozen_reason is null then 'participation.unfrozen' else 'participation.frozen' end,
      audit_system(), audit_object('participation', new.id::text), new.frozen_reason);
  end if;
  return null;
end
$$;
create trigger participations_audit after insert or update on participations
  for each row execute function audit_participation();

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
