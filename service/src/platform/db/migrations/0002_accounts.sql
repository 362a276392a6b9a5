-- Users and how they sign in.

-- People and companies who sign in. A row is inserted when its email address has been confirmed, so that nobody can hold an
-- address that is not theirs.
create table users (
  id uuid primary key,
  email text not null check (length(email) <= 254),
  email_confirmed_at timestamptz not null default now(),
  kind text not null check (kind in ('person', 'company')),
  -- argon2id in PHC form; null if the user has only passkeys.
  password_hash text,
  -- The language of mails to the user; null is English.
  locale text,
  -- Since when an operator holds the account. On this row, so that a write that locks the row is either before the hold or
  -- refused.
  held_at timestamptz,
  inserted_at timestamptz not null default now()
);
-- One comparison of email addresses, in SQL and in JavaScript alike: only ASCII letters ignore case, whatever the locale of
-- the database.
create unique index users_email_ascii on users (lower(email collate "C"));

-- The history of holds with their reasons, for operators only.
create table user_holds (
  id uuid primary key,
  user_id uuid not null references users,
  reason text not null,
  held_at timestamptz not null,
  release_reason text,
  released_at timestamptz,
  check ((release_reason is null) = (released_at is null))
);
create unique index user_holds_open on user_holds (user_id) where released_at is null;
create index user_holds_user_id on user_holds (user_id, held_at);

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

-- WebAuthn challenges, deleted when they are used. `browser` is the hash of the cookie of the browser that asked.
create table passkey_challenges (
  hash bytea primary key,
  purpose text not null check (purpose in ('add', 'sign_in')),
  browser bytea not null,
  expires_at timestamptz not null
);
create index passkey_challenges_expires_at on passkey_challenges (expires_at);

-- Links sent by mail, deleted when they are used.
--   confirm       confirms the address of a new account, whose sealed form is `registration`
--   reset         lets `user_id` set a password
--   change_email  confirms a new address of `user_id`, sealed in `registration`
create table mail_links (
  hash bytea primary key,
  purpose text not null check (purpose in ('confirm', 'reset', 'change_email')),
  user_id uuid references users on delete cascade,
  registration bytea,
  browser bytea,
  continue_to text,
  expires_at timestamptz not null,
  check ((purpose <> 'reset') = (registration is not null)),
  check ((purpose <> 'confirm') = (user_id is not null))
);
create index mail_links_expires_at on mail_links (expires_at);
create index mail_links_user_id on mail_links (user_id) where user_id is not null;

-- Signed-in browsers, with what users need to recognise one and to sign it out. `hash` is of the cookie.
create table browser_sessions (
  hash bytea primary key,
  id uuid not null default gen_random_uuid(),
  user_id uuid not null references users on delete cascade,
  method text not null check (method in ('password', 'passkey')),
  -- What confirmed the password.
  second_factor text check (second_factor in ('totp', 'recovery_code')),
  browser text,
  -- Shortened, so that it does not name one household.
  network text not null,
  signed_in_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create unique index browser_sessions_id on browser_sessions (id);
create index browser_sessions_user_id on browser_sessions (user_id);
create index browser_sessions_expires_at on browser_sessions (expires_at);

-- Browsers that have sent the right password and still owe a code. `hash` is of the cookie.
create table pending_sign_ins (
  hash bytea primary key,
  user_id uuid not null references users on delete cascade,
  attempts integer not null default 0,
  expires_at timestamptz not null
);
create index pending_sign_ins_user_id on pending_sign_ins (user_id);
create index pending_sign_ins_expires_at on pending_sign_ins (expires_at);

-- Secrets of authenticator apps (RFC 6238), sealed. A secret counts once a code has confirmed it. `last_step` is the time
-- step of the last accepted code: no code works twice.
create table totp_secrets (
  user_id uuid primary key references users on delete cascade,
  sealed_secret bytea not null,
  key_id bytea not null generated always as (substring(sealed_secret from 1 for 4)) stored,
  confirmed_at timestamptz,
  last_step bigint not null default 0,
  inserted_at timestamptz not null default now()
);
create index totp_secrets_key_id on totp_secrets (key_id);

-- Hashes of codes that work once in place of the authenticator app.
create table recovery_codes (
  user_id uuid not null references users on delete cascade,
  hash bytea not null,
  primary key (user_id, hash)
);

-- Wrong passwords per account, counted for an hour, because the limit per minute would allow too many in a day.
create table sign_in_failures (
  account bytea primary key,
  count integer not null,
  window_end timestamptz not null
);
create index sign_in_failures_window_end on sign_in_failures (window_end);

-- Browsers and networks from which an account has been signed in to. They have limits of their own, so that a stranger
-- who guesses passwords does not lock them out.
create table sign_in_sources (
  account bytea not null,
  source bytea not null,
  used_at timestamptz not null default now(),
  primary key (account, source)
);
create index sign_in_sources_used_at on sign_in_sources (used_at);

-- Keys of the unsubscribe links that were made with a secret that is no longer listed, sealed with a newer one. A link in
-- a mail must work for as long as the mail exists.
create table unsubscribe_keys (
  fingerprint bytea primary key,
  sealed bytea not null
);
