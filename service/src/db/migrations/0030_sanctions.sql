-- The sanctions list that the nodes last accepted, so that a node that starts with a truncated file keeps this one.
-- `screened_hash` is the list that all wallets, participations and orders were last compared with.
create table sanctions_list (
  only_row boolean primary key default true check (only_row),
  hash text not null,
  addresses text[] not null,
  accepted_at timestamptz not null,
  refused_hash text,
  refused_reason text,
  refused_at timestamptz,
  screened_hash text,
  screened_at timestamptz
);

-- What a screening found: a wallet of a user, a participation (or its refund) or an order of a listed address. A hit stays
-- open until an operator clears it. Never part of a reply or an event.
create table sanctions_hits (
  id uuid primary key,
  subject text not null check (subject in ('wallet', 'participation', 'order')),
  subject_id uuid not null,
  address text not null,
  user_id uuid not null references users,
  partner_id uuid not null references partners,
  found_at timestamptz not null,
  clear_reason text,
  cleared_at timestamptz,
  check ((clear_reason is null) = (cleared_at is null))
);
create unique index sanctions_hits_open on sanctions_hits (subject, subject_id, address) where cleared_at is null;
create index sanctions_hits_address on sanctions_hits (address);
create index sanctions_hits_user_id on sanctions_hits (user_id);

create index participations_wallet_address on participations (wallet_address)
  where status not in ('failed', 'remitted');
