-- Orders of tokenized assets, each written before the venue is asked for its attestation.
--
-- `asking`: the venue may have been asked; whoever finds such a row without its process does not know the outcome.
-- `unknown`: it was asked and gave no usable answer. `attested`: its answer is here, the calldata was not given out yet.
-- `live`: the calldata is out. `executed`, `expired`: what became of it, by the chain. `refused`: nothing was attested.
-- `failed`: attested, but the calldata would have reverted. `abandoned`: never given out, and over.
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
  -- The request's idempotency key with its client and user, so that a repeat after a crash finds its order.
  claim bytea,
  state text not null check (state in
    ('asking', 'unknown', 'attested', 'live', 'executed', 'expired', 'refused', 'failed', 'abandoned')),
  -- As long as it holds, the wallet gets no other calldata for the asset.
  holding boolean not null,
  -- When the attestation ends; while it is not known, when it would have ended at the latest.
  expires_at timestamptz not null,
  attestation jsonb,
  attestation_id numeric(78, 0),
  -- The block before which it cannot have been executed.
  from_block bigint,
  transaction_hash bytea,
  inserted_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index tokenized_orders_holding on tokenized_orders (chain, wallet, asset) where holding;
create index tokenized_orders_claim on tokenized_orders (claim) where claim is not null;
create index tokenized_orders_live on tokenized_orders (expires_at)
  where state in ('asking', 'unknown', 'attested', 'live');
