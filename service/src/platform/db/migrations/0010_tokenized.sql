-- Orders and prices of tokenized assets.

-- Orders, each stored before the venue is asked for its attestation.
--   asking     the venue may have been asked; if the process that asked is gone, the outcome is unknown
--   unknown    it was asked and gave no usable answer
--   attested   its answer is stored, the calldata was not given out yet
--   live       the calldata is out
--   executed   found on the chain
--   expired    the calldata was not executed in time
--   refused    nothing was attested
--   failed     attested, but the calldata would have reverted
--   abandoned  attested, but never given out and no longer valid
create table tokenized_orders (
  id uuid primary key,
  partner_id uuid not null references partners,
  user_id uuid not null references users,
  offer_id uuid not null references offers,
  symbol text not null,
  chain text not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  swap text not null check (swap ~ '^0x[0-9a-f]{40}$'),
  asset text not null check (asset ~ '^0x[0-9a-f]{40}$'),
  token text not null check (token ~ '^0x[0-9a-f]{40}$'),
  amount numeric(78, 0) not null,
  -- The platform's cut when the calldata was issued; the offer's fee may change later.
  fee numeric(78, 0),
  -- The request's idempotency key with its client and user, so that a repeat after a crash finds its order.
  claim bytea,
  state text not null check (state in
    ('asking', 'unknown', 'attested', 'live', 'executed', 'expired', 'refused', 'failed', 'abandoned')),
  -- Why operators were alerted of calldata that cannot be recalled. Never part of a reply or an event.
  restricted_reason text check (restricted_reason in ('hold', 'sanctions')),
  -- As long as it holds, the wallet gets no other calldata for the asset.
  holding boolean not null,
  -- When the attestation ends; while it is not known, when it would have ended at the latest.
  expires_at timestamptz not null,
  -- By the database's clock: when an order is looked up next. A node that takes it moves the time, so that no two nodes look
  -- up the same order, and orders whose chain does not answer go to the end of the queue.
  check_at timestamptz not null default now(),
  attestation jsonb,
  attestation_id numeric(78, 0),
  -- The block before which it cannot have been executed.
  from_block bigint,
  transaction_hash bytea,
  inserted_at timestamptz not null,
  updated_at timestamptz not null,
  check (fee is not null or state not in ('live', 'executed', 'expired'))
);
create unique index tokenized_orders_holding on tokenized_orders (chain, wallet, asset) where holding;
create index tokenized_orders_claim on tokenized_orders (claim) where claim is not null;
create index tokenized_orders_live on tokenized_orders (check_at)
  where state in ('asking', 'unknown', 'attested', 'live');
create index tokenized_orders_partner on tokenized_orders (partner_id, inserted_at, id);
create index tokenized_orders_user on tokenized_orders (partner_id, user_id, inserted_at, id);
-- What housekeeping looks for: claims to clear, and orders that ended without a trade, by when they ended.
create index tokenized_orders_claimed on tokenized_orders (inserted_at)
  where claim is not null and state = 'executed';
create index tokenized_orders_ended on tokenized_orders (updated_at)
  where state in ('refused', 'failed', 'abandoned', 'expired');

-- The buy price of one token over time, for charts: every five minutes while the market is open. `is_kept` marks the
-- first price of each hour, which is kept for a year after the others are deleted.
create table tokenized_prices (
  symbol text not null,
  recorded_at timestamptz not null,
  price numeric not null check (price > 0),
  session text not null,
  is_kept boolean not null,
  primary key (symbol, recorded_at)
);
create index tokenized_prices_age on tokenized_prices (is_kept, recorded_at);
