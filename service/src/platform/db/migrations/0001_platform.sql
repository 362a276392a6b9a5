-- What the whole service shares: settings of the installation, repeated requests, rate limits and outgoing mail.

-- Whether an address is well-formed on its chain. EVM addresses are in lower case. Addresses on Solana are base58 of 32 bytes
-- and keep their case.
create function is_address(chain text, address text) returns boolean language sql immutable as
  $$ select case when chain like 'solana%' then address ~ '^[1-9A-HJ-NP-Za-km-z]{32,44}$'
    else address ~ '^0x[0-9a-f]{40}$' end $$;

-- What a database remembers about the nodes that use it: its profile, and fingerprints of the secrets that its data is
-- sealed with.
create table installation (
  singleton boolean primary key default true check (singleton),
  profile text not null check (profile in ('sandbox', 'production')),
  inserted_at timestamptz not null default now()
);

create table installation_secrets (
  fingerprint bytea primary key,
  inserted_at timestamptz not null default now()
);

-- The installation's part of the ids that funds of the second generation store for its commitments. A restored or copied
-- database keeps it, so that a fund refuses what the original has committed.
create table installation_ids (
  singleton boolean primary key default true check (singleton),
  id uuid not null default gen_random_uuid()
);
insert into installation_ids default values;

-- Replies to POSTs with an Idempotency-Key. `id` is a hash of (client, user, method, path, key), `request_tag` an HMAC of the
-- body, `outcome` the sealed reply (null while the request runs on `node`).
create table idempotency_keys (
  id bytea primary key,
  request_tag bytea not null,
  node integer not null,
  lease_until timestamptz not null,
  outcome bytea,
  inserted_at timestamptz not null default now()
);
create index idempotency_keys_inserted_at on idempotency_keys (inserted_at);

-- Counters shared between nodes (RATE_LIMITS=postgres). Losing them in a crash is harmless.
create unlogged table rate_limits (
  key text primary key,
  count integer not null,
  window_end timestamptz not null
);
create index rate_limits_window_end on rate_limits (window_end);

-- Mails on their way out, written in the transaction of the change that they report and deleted when they are sent.
create table mail_outbox (
  id uuid primary key,
  mail bytea not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  inserted_at timestamptz not null default now()
);
create index mail_outbox_next_attempt_at on mail_outbox (next_attempt_at);
