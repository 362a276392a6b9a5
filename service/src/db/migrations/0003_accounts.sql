-- People and companies who sign in. A row is made when its e-mail address has been confirmed, so that nobody
-- can hold an address that is not theirs. `password_hash` (argon2id, PHC form) is null for passkeys only.
create table users (
  id uuid primary key,
  email text not null check (length(email) <= 254),
  kind text not null check (kind in ('person', 'company')),
  password_hash text,
  email_confirmed_at timestamptz not null default now(),
  inserted_at timestamptz not null default now()
);
create unique index users_email on users (lower(email));

create table passkeys (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  credential_id bytea not null unique,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  last_used_at timestamptz,
  inserted_at timestamptz not null default now()
);
create index passkeys_user_id on passkeys (user_id);

-- WebAuthn challenges, deleted when they are used. `browser` is the hash of the cookie that asked.
create table passkey_challenges (
  hash bytea primary key,
  purpose text not null check (purpose in ('add', 'sign_in')),
  browser bytea not null,
  expires_at timestamptz not null
);
create index passkey_challenges_expires_at on passkey_challenges (expires_at);

-- Links sent by mail, deleted when they are used. `registration` is the sealed form of who wants to join
-- (purpose confirm), `user_id` whose password may be set (purpose reset).
create table mail_links (
  hash bytea primary key,
  purpose text not null check (purpose in ('confirm', 'reset')),
  user_id uuid references users on delete cascade,
  registration bytea,
  browser bytea,
  continue_to text,
  expires_at timestamptz not null,
  check ((purpose = 'confirm') = (registration is not null)),
  check ((purpose = 'reset') = (user_id is not null))
);
create index mail_links_expires_at on mail_links (expires_at);
create index mail_links_user_id on mail_links (user_id) where user_id is not null;

-- Signed-in browsers: `hash` is of the cookie.
create table browser_sessions (
  hash bytea primary key,
  user_id uuid not null references users on delete cascade,
  method text not null check (method in ('password', 'passkey')),
  signed_in_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index browser_sessions_user_id on browser_sessions (user_id);
create index browser_sessions_expires_at on browser_sessions (expires_at);

-- Mails on their way out, written in the transaction of what they tell and deleted when they are sent.
create table mail_outbox (
  id uuid primary key,
  mail bytea not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  inserted_at timestamptz not null default now()
);
create index mail_outbox_next_attempt_at on mail_outbox (next_attempt_at);

-- Wrong passwords per account, counted for an hour: what a minute's limit lets through all day.
create table sign_in_failures (
  account bytea primary key,
  count integer not null,
  window_end timestamptz not null
);
create index sign_in_failures_window_end on sign_in_failures (window_end);
