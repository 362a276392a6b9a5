-- Offers and what users can invest in.

create table assets (
  id text primary key check (id ~ '^[a-z0-9][a-z0-9-]{0,63}$'),
  code text not null,
  name text not null,
  fractional_digits smallint not null check (fractional_digits between 0 and 77),
  -- How transfers change amounts, as the offer file declares it. Only exact assets can fund an offer.
  transfers text not null default 'exact' check (transfers in ('exact', 'fee_on_transfer', 'rebasing')),
  inserted_at timestamptz not null default now()
);

-- An offer as its file describes it; `slug` is the key of the file. Its partners see it from `published_at` on, and it ends at
-- `ends_at` or, earlier, at `closed_at`. Tokenized swaps trade `symbol` and take `fee_bps`.
create table offers (
  id uuid primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,99}$'),
  type text not null check (type in ('platform::token_sale', 'fund::swap', 'tokenized::swap')),
  name text not null,
  tagline text,
  about text,
  category text,
  starts_at timestamptz,
  ends_at timestamptz,
  logo_url text not null,
  banner_url text,
  asset_id text not null references assets,
  symbol text,
  fee_bps integer check (fee_bps between 0 and 10000),
  -- The operator has decided that options of this offer need no identity check.
  open_to_anyone boolean not null default false,
  -- How long a participation of the offer may stay `pending`; null for the default of the service.
  pending_hours integer check (pending_hours between 1 and 8760),
  terms jsonb not null default '[]',
  links jsonb not null default '[]',
  faqs jsonb not null default '[]',
  milestones jsonb not null default '[]',
  published_at timestamptz,
  closed_at timestamptz,
  inserted_at timestamptz not null,
  updated_at timestamptz not null,
  check (ends_at > starts_at),
  check ((type = 'tokenized::swap') = (symbol is not null)),
  check (type <> 'tokenized::swap' or fee_bps is not null)
);

-- What a user can invest in. Other tables refer to options without `on delete`, so that one in use cannot be deleted.
create table offer_options (
  id uuid primary key,
  offer_id uuid not null references offers on delete cascade,
  slug text not null check (slug ~ '^[a-z0-9][a-z0-9-]{0,99}$'),
  position integer not null,
  price_usd numeric,
  floor_price_usd numeric,
  bid_increment numeric,
  minimum_purchase_usd numeric,
  total_token_supply numeric,
  sale_agreement_url text,
  accreditation_days integer not null default 90 check (accreditation_days > 0),
  unique (offer_id, slug),
  unique (offer_id, id)
);

-- A requirement keeps its id as long as its `key` stays the same: its type and, where an option can have several of a type,
-- which one.
create table requirements (
  id uuid primary key,
  option_id uuid not null references offer_options on delete cascade,
  key text not null,
  type text not null check (type in ('identity_verification', 'kyc_approved', 'accreditation', 'external_wallet',
    'whitelisted_wallet', 'document', 'jurisdiction', 'acknowledgement')),
  details jsonb,
  position integer not null,
  unique (option_id, key)
);

create table offer_partners (
  offer_id uuid not null references offers on delete cascade,
  partner_id uuid not null references partners on delete cascade,
  primary key (offer_id, partner_id)
);
create index offer_partners_partner_id on offer_partners (partner_id);

create table offer_funding_assets (
  offer_id uuid not null references offers on delete cascade,
  asset_id text not null references assets,
  position integer not null,
  primary key (offer_id, asset_id)
);

-- Where the offer is deployed.
create table offer_contracts (
  offer_id uuid not null references offers on delete cascade,
  chain text not null,
  kind text not null check (kind in ('fund', 'swap')),
  address text not null,
  asset_address text,
  -- The contract that `allow` is called on; null if the swap has no list.
  allow_list text,
  -- The token account that commits on Solana pay into: the associated account of a cold wallet.
  vault text,
  -- For contracts that do not publish their EIP-712 domain themselves.
  domain_name text,
  -- Why the contract cannot be read. While it is set, nobody can invest through this contract.
  unreadable_code text check (unreadable_code in ('contract_not_found', 'contract_reverted')),
  unreadable_reason text,
  position integer not null,
  primary key (offer_id, chain),
  constraint offer_contracts_addresses_check check (is_address(chain, address) and is_address(chain, asset_address)
    and is_address(chain, allow_list) and is_address(chain, vault)),
  constraint offer_contracts_solana_check check ((chain like 'solana%') = (vault is not null)
    and (chain not like 'solana%' or (kind = 'fund' and allow_list is null))),
  check ((unreadable_code is null) = (unreadable_reason is null))
);

create table offer_funding_tokens (
  offer_id uuid not null,
  chain text not null,
  asset_id text not null,
  address text not null,
  decimals smallint not null check (decimals between 0 and 77),
  position integer not null,
  primary key (offer_id, chain, asset_id),
  unique (offer_id, chain, address),
  foreign key (offer_id, chain) references offer_contracts on delete cascade,
  foreign key (offer_id, asset_id) references offer_funding_assets,
  constraint offer_funding_tokens_address_check check (is_address(chain, address))
);

-- The state of each offer that a partner was last told. No foreign keys: the row is not a use of the offer.
create table reported_offers (
  offer_id uuid not null,
  partner_id uuid not null,
  state text not null check (state in ('published', 'started', 'ended')),
  primary key (offer_id, partner_id)
);

-- Every node caches offers and is notified on channel `offers` when they change, whoever changed them.
create function notify_offers() returns trigger language plpgsql as
  $$ begin perform pg_notify('offers', ''); return null; end $$;

create trigger assets_changed after update or delete on assets
  for each statement execute function notify_offers();
create trigger offers_changed after insert or update or delete on offers
  for each statement execute function notify_offers();
create trigger offer_options_changed after insert or update or delete on offer_options
  for each statement execute function notify_offers();
create trigger requirements_changed after insert or update or delete on requirements
  for each statement execute function notify_offers();
create trigger offer_partners_changed after insert or update or delete on offer_partners
  for each statement execute function notify_offers();
create trigger offer_funding_assets_changed after insert or update or delete on offer_funding_assets
  for each statement execute function notify_offers();
create trigger offer_contracts_changed after insert or update or delete on offer_contracts
  for each statement execute function notify_offers();
create trigger offer_funding_tokens_changed after insert or update or delete on offer_funding_tokens
  for each statement execute function notify_offers();
