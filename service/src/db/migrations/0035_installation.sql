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
