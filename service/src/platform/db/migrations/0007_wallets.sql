-- Wallets that users have proven and bound, permissions on allow-lists, and sanctions screening.

-- The text that a wallet was asked to sign. A newer one replaces the older; `id` tells them apart, so that returning the claim
-- of an older one cannot revive its successor. Used from `consumed_at` on.
create table wallet_challenges (
  client_id text not null,
  user_id uuid not null,
  chain text not null,
  address text not null,
  id uuid not null,
  text text not null,
  expires_at timestamptz not null,
  consumed_at timestamptz,
  primary key (client_id, user_id, chain, address)
);
create index wallet_challenges_expires_at on wallet_challenges (expires_at);

-- Wallets that users have proven to own, per partner. A plain key proves its address on every chain of its protocol
-- (`chain` is '*'). A contract wallet is proven on the chain that verified it; its text and signature are kept, because the
-- contract is asked again whenever the wallet is used.
create table wallet_proofs (
  partner_id uuid not null references partners,
  address text not null,
  chain text not null,
  protocol text not null check (protocol in ('ethereum', 'solana')),
  user_id uuid not null references users,
  kind text not null check (kind in ('key', 'contract')),
  text text,
  signature text,
  proved_at timestamptz not null,
  primary key (partner_id, address, chain),
  check ((kind = 'key') = (chain = '*')),
  check ((kind = 'contract') = (text is not null and signature is not null))
);
create index wallet_proofs_user_id on wallet_proofs (user_id);

-- Keyed hashes of all wallets that a user has ever proven, kept after removal and erasure, so that a wallet of a held or
-- finally rejected account cannot be proven by another account.
create table wallet_owners (
  hash bytea not null,
  user_id uuid not null references users,
  primary key (hash, user_id)
);

-- Keys of the hashes in wallet_owners that were made with a secret that is no longer listed, sealed with a newer one. The
-- hashes cannot be made again, because the addresses are not kept.
create table wallet_owner_keys (
  fingerprint bytea primary key,
  sealed bytea not null
);

-- Wallets that users have bound to offer options. An address belongs to one user per option, whichever chain of its
-- protocol proved it; how many a user has is decided under a lock on (option, user). EVM addresses in lower case.
create table option_addresses (
  id uuid primary key,
  option_id uuid not null references offer_options,
  user_id uuid not null references users,
  protocol text not null check (protocol in ('ethereum', 'solana')),
  address text not null check (protocol <> 'ethereum' or address ~ '^0x[0-9a-f]{40}$'),
  -- Which partner's client and which chain the last proof came through.
  partner_id uuid not null references partners,
  proved_chain text not null,
  proved_at timestamptz not null,
  created_at timestamptz not null,
  unique (option_id, address)
);
create index option_addresses_user_id on option_addresses (user_id, option_id, created_at, id);
create index option_addresses_address on option_addresses (address);

-- Verifications that let a wallet onto an allow-list.
--   permitted  the supplier gave a transaction that is good until `deadline`
--   allowed    the chain says that the wallet is on the list
--   expired    it never got onto the list
--   revoking   its user has lost eligibility and a revocation is open
--   revoked    the chain has revoked the wallet
create table allow_verifications (
  id uuid primary key,
  offer_id uuid not null references offers,
  user_id uuid not null references users,
  partner_id uuid not null references partners,
  chain text not null,
  contract text not null check (contract ~ '^0x[0-9a-f]{40}$'),
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  state text not null check (state in ('permitted', 'allowed', 'expired', 'revoking', 'revoked')),
  deadline timestamptz not null,
  -- When the eligibility behind a permission or an allowed wallet is decided again, by the service's clock.
  check_at timestamptz not null default '-infinity',
  inserted_at timestamptz not null,
  updated_at timestamptz not null,
  unique (offer_id, user_id, chain, contract, wallet)
);
create index allow_verifications_permitted on allow_verifications (updated_at) where state = 'permitted';
create index allow_verifications_check_at on allow_verifications (check_at) where state in ('permitted', 'allowed');
create index allow_verifications_user_id on allow_verifications (user_id);
create index allow_verifications_wallet on allow_verifications (wallet, chain, contract);

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

create constraint trigger option_addresses_status after insert or delete on option_addresses
  deferrable initially deferred for each row execute function mark_status_check();

-- Whatever changes a fact that eligibility depends on makes the user's allowed wallets due. A trigger, so that no writer
-- can forget it. The update locks the rows, so that no check takes one before the change is committed.
create function recheck_allowed_wallets() returns trigger language plpgsql as $$
declare
  changed uuid;
begin
  if tg_table_name = 'users' then changed := new.id;
  elsif tg_op = 'INSERT' then changed := new.user_id;
  else changed := old.user_id;
  end if;
  update allow_verifications set check_at = '-infinity'
    where user_id = changed and state in ('permitted', 'allowed');
  return null;
end $$;

create trigger recheck_allowed_wallets after update of held_at on users
  for each row execute function recheck_allowed_wallets();
create trigger recheck_allowed_wallets after update of is_active on identity_applicants
  for each row execute function recheck_allowed_wallets();
create trigger recheck_allowed_wallets after insert or update or delete on identity_reviews
  for each row execute function recheck_allowed_wallets();
create trigger recheck_allowed_wallets after insert or update or delete on pii
  for each row execute function recheck_allowed_wallets();
create trigger recheck_allowed_wallets after insert or delete or update of status, pii_version on document_submissions
  for each row execute function recheck_allowed_wallets();
create trigger recheck_allowed_wallets after update or delete on wallet_proofs
  for each row execute function recheck_allowed_wallets();
