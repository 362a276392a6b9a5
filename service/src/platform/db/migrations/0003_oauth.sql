-- Partners, their clients, and what the authorization server issues.

create table partners (
  id uuid primary key,
  name text not null check (length(name) between 1 and 100),
  logo_url text,
  origins text[] not null default '{}',
  -- Where the service writes to the partner about its integration.
  contact_email text,
  disabled_at timestamptz,
  tokens_valid_from timestamptz not null default '-infinity',
  inserted_at timestamptz not null default now()
);

-- Secrets are 256 random bits, of which only the SHA-256 is stored. While a secret is being replaced, both work.
create table oauth_clients (
  client_id text primary key,
  partner_id uuid not null references partners,
  redirect_uris text[] not null,
  -- Where a client may send the browser after RP-initiated logout.
  post_logout_redirect_uris text[] not null default '{}',
  scopes text[] not null,
  secret_hash bytea not null,
  previous_secret_hash bytea,
  previous_secret_until timestamptz,
  inserted_at timestamptz not null default now(),
  check ((previous_secret_hash is null) = (previous_secret_until is null))
);
create index oauth_clients_partner_id on oauth_clients (partner_id);

-- Scopes that a client has lost. Grants and tokens from before lose them for good, even if the client gets them back.
create table oauth_removed_scopes (
  client_id text not null references oauth_clients on delete cascade,
  scope text not null,
  removed_at timestamptz not null,
  primary key (client_id, scope)
);

-- What a user has allowed a client. Revoking a grant ends everything that was or is being issued on it.
create table oauth_grants (
  id text primary key,
  client_id text not null references oauth_clients on delete cascade,
  user_id uuid not null,
  payload jsonb not null,
  consented_at timestamptz not null default now(),
  -- A consent is remembered per client while its redirect URIs are those that the user agreed to.
  consented_redirect_uris text[],
  expires_at timestamptz not null,
  revoked_at timestamptz,
  inserted_at timestamptz not null default now()
);
create index oauth_grants_user_id on oauth_grants (user_id, client_id) where revoked_at is null;
create index oauth_grants_client_id on oauth_grants (client_id);
-- Housekeeping finds the rows that it deletes through this index.
create index oauth_grants_revoked_at on oauth_grants (revoked_at) where revoked_at is not null;

-- Access tokens, of users (with a grant) and of partners (without). `hash` is the SHA-256 of the token. `issued_at` has whole
-- seconds of a node's clock, `inserted_at` is exact and comes from the database.
create table oauth_tokens (
  hash bytea primary key,
  client_id text not null references oauth_clients on delete cascade,
  grant_id text references oauth_grants on delete cascade,
  user_id uuid,
  scope text not null,
  payload jsonb not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  inserted_at timestamptz not null default now(),
  check ((grant_id is null) = (user_id is null))
);
create index oauth_tokens_expires_at on oauth_tokens (expires_at);
create index oauth_tokens_grant_id on oauth_tokens (grant_id) where grant_id is not null;
create index oauth_tokens_client_id on oauth_tokens (client_id);

-- Codes, refresh tokens, sessions and interactions of the authorization server, found by the SHA-256 of their
-- secret, which the payload does not repeat.
create table oauth_artifacts (
  kind text not null,
  hash bytea not null,
  grant_id text references oauth_grants on delete cascade,
  uid text,
  payload jsonb not null,
  expires_at timestamptz not null,
  consumed_at timestamptz,
  inserted_at timestamptz not null default now(),
  primary key (kind, hash)
);
create index oauth_artifacts_expires_at on oauth_artifacts (expires_at);
create index oauth_artifacts_grant_id on oauth_artifacts (grant_id) where grant_id is not null;
create index oauth_artifacts_uid on oauth_artifacts (kind, uid) where uid is not null;

-- Keys that sign ID tokens, sealed. The newest one signs; a retired one stays published until its tokens have expired.
create table oauth_signing_keys (
  kid text primary key,
  sealed bytea not null,
  inserted_at timestamptz not null default clock_timestamp(),
  retired_at timestamptz
);

-- Whether a live grant of the user lets the partner use the scope. A scope counts only if the client has it and has not lost
-- it since the user consented.
create function has_granted(grantor uuid, partner uuid, wanted text) returns boolean language sql stable as $$
  select exists (
    select from oauth_grants g join oauth_clients c on c.client_id = g.client_id
    where g.user_id = grantor and c.partner_id = partner and g.revoked_at is null and g.expires_at > now()
      and wanted = any(string_to_array(g.payload #>> '{openid,scope}', ' ')) and wanted = any(c.scopes)
      and not exists (select from oauth_removed_scopes r
        where r.client_id = g.client_id and r.scope = wanted and r.removed_at > g.consented_at))
$$;

create function record_removed_scopes() returns trigger language plpgsql as $$
begin
  insert into oauth_removed_scopes (client_id, scope, removed_at)
    select new.client_id, lost, clock_timestamp() from unnest(old.scopes) as lost where lost <> all(new.scopes)
    on conflict (client_id, scope) do update set removed_at = excluded.removed_at;
  return null;
end $$;
create trigger oauth_client_scopes after update of scopes on oauth_clients
  for each row when (old.scopes is distinct from new.scopes) execute function record_removed_scopes();

-- Enabling a disabled partner ends everything that was issued to it before, whoever enables it.
create function end_partner_tokens() returns trigger language plpgsql as $$
begin
  new.tokens_valid_from := clock_timestamp();
  return new;
end
$$;
create trigger partner_enabled before update of disabled_at on partners
  for each row when (old.disabled_at is not null and new.disabled_at is null) execute function end_partner_tokens();

-- Notifies every node on channel `oauth` of what it must forget, whoever changed it and by whatever means:
-- `<what> <id>`, where <what> is the trigger's first argument and <id> the column that the second names.
create function notify_oauth() returns trigger language plpgsql as $$
begin
  perform pg_notify('oauth', tg_argv[0] || ' ' || (to_jsonb(case when tg_op = 'INSERT' then new else old end) ->> tg_argv[1]));
  return null;
end
$$;

-- Deleted grants notify nobody: deleting a grant deletes its tokens, which notify for themselves, and housekeeping deletes
-- thousands of grants without tokens.
create trigger oauth_grant_revoked after update of revoked_at on oauth_grants
  for each row when (old.revoked_at is distinct from new.revoked_at) execute function notify_oauth('grant', 'id');
-- Expired tokens are deleted in bulk, and every node knows the time of day.
create trigger oauth_token_deleted after delete on oauth_tokens
  for each row when (old.expires_at > now()) execute function notify_oauth('token', 'hash');
create trigger oauth_client_changed after update or delete on oauth_clients
  for each row execute function notify_oauth('client', 'client_id');
create trigger partner_changed after insert or update or delete on partners
  for each row execute function notify_oauth('partner', 'id');
create trigger oauth_signing_key_changed after insert or update or delete on oauth_signing_keys
  for each row execute function notify_oauth('key', 'kid');
