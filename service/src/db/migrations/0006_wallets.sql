-- The text that a wallet was asked to sign. A newer one takes the place of the older; `id` tells them apart, so that a
-- claim that is given back cannot revive its successor. Spent from `consumed_at` on.
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

-- Verifications that let a wallet onto an allow-list. `permitted`: the supplier gave a transaction that is good until
-- `deadline`; `allowed`: the chain says that the wallet is in; `expired`: it never came in.
create table allow_verifications (
  id uuid primary key,
  offer_id uuid not null references offers,
  user_id uuid not null references users,
  partner_id uuid not null references partners,
  chain text not null,
  contract text not null check (contract ~ '^0x[0-9a-f]{40}$'),
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  state text not null check (state in ('permitted', 'allowed', 'expired')),
  deadline timestamptz not null,
  inserted_at timestamptz not null,
  updated_at timestamptz not null,
  unique (offer_id, user_id, chain, contract, wallet)
);
create index allow_verifications_permitted on allow_verifications (updated_at) where state = 'permitted';
