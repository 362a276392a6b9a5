create table partners (
  id uuid primary key,
  name text not null check (length(name) between 1 and 100),
  logo_url text,
  origins text[] not null default '{}',
  disabled_at timestamptz,
  inserted_at timestamptz not null default now()
);

-- Secrets are 256 random bits, of which only the SHA-256 is kept. While a secret is being replaced both work.
create table oauth_clients (
  client_id text primary key,
  partner_id uuid not null references partners,
  redirect_uris text[] not null,
  scopes text[] not null,
  secret_hash bytea not null,
  previous_secret_hash bytea,
  previous_secret_until timestamptz,
  inserted_at timestamptz not null default now(),
  check ((previous_secret_hash is null) = (previous_secret_until is null))
);
create index oauth_clients_partner_id on oauth_clients (partner_id);

-- What a user has allowed a client. Revoking it ends everything that was issued on it, also what is being issued.
create table oauth_grants (
  id text primary key,
  client_id text not null references oauth_clients on delete cascade,
  user_id uuid not null,
  payload jsonb not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  inserted_at timestamptz not null default now()
);
create index oauth_grants_user_id on oauth_grants (user_id, client_id) where revoked_at is null;
create index oauth_grants_client_id on oauth_grants (client_id);

-- Access tokens, of users (with a grant) and of partners (without). `hash` is the SHA-256 of the token.
create table oauth_tokens (
  hash bytea primary key,
  client_id text not null references oauth_clients on delete cascade,
  grant_id text references oauth_grants on delete cascade,
  user_id uuid,
  scope text not null,
  payload jsonb not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
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
  primary key (kind, hash)
);
create index oauth_artifacts_expires_at on oauth_artifacts (expires_at);
create index oauth_artifacts_grant_id on oauth_artifacts (grant_id) where grant_id is not null;
create index oauth_artifacts_uid on oauth_artifacts (kind, uid) where uid is not null;

-- Keys that sign ID tokens, sealed. The newest signs; a retired one stays published while its tokens live.
create table oauth_signing_keys (
  kid text primary key,
  sealed bytea not null,
  inserted_at timestamptz not null default clock_timestamp(),
  retired_at timestamptz
);

-- Every node hears on channel `oauth` what it must forget, whoever changed it and by whatever means:
-- `<what> <id>`, where <what> is the trigger's first argument and <id> the column that the second names.
create function notify_oauth() returns trigger language plpgsql as $$
begin
  perform pg_notify('oauth', tg_argv[0] || ' ' || (to_jsonb(case when tg_op = 'INSERT' then new else old end) ->> tg_argv[1]));
  return null;
end
$$;

create trigger oauth_grant_revoked after update of revoked_at on oauth_grants
  for each row when (old.revoked_at is distinct from new.revoked_at) execute function notify_oauth('grant', 'id');
create trigger oauth_grant_deleted after delete on oauth_grants
  for each row when (old.revoked_at is null) execute function notify_oauth('grant', 'id');
-- Expired tokens are deleted in bulk, and every node knows the time of day.
create trigger oauth_token_deleted after delete on oauth_tokens
  for each row when (old.expires_at > now()) execute function notify_oauth('token', 'hash');
create trigger oauth_client_changed after update or delete on oauth_clients
  for each row execute function notify_oauth('client', 'client_id');
create trigger partner_changed after insert or update or delete on partners
  for each row execute function notify_oauth('partner', 'id');
create trigger oauth_signing_key_changed after insert or update or delete on oauth_signing_keys
  for each row execute function notify_oauth('key', 'kid');
