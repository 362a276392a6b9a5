-- One nonce sequence per chain and operator key, and the node that may extend it. `epoch` grows with every change of
-- hands: a write that names an older one is refused, however late it comes. `next_nonce` is null until the first use.
create table operator_keys (
  chain text not null,
  address text not null check (address ~ '^0x[0-9a-f]{40}$'),
  next_nonce bigint,
  epoch bigint not null,
  node integer not null,
  lease_until timestamptz not null,
  primary key (chain, address)
);

-- What the operator has decided to do on chain. A row stands before anything is sent, with the signed bytes in
-- `operator_attempts`; attempts of one transaction share its nonce and its call, so at most one is ever mined.
--   open       to be mined
--   settled    mined and confirmed; still watched for reorganisations
--   final      too deep to be watched
--   displaced  its nonce was used by somebody else's transaction of this key
create table operator_transactions (
  id uuid primary key,
  chain text not null,
  signer text not null,
  nonce bigint not null,
  kind text not null check (kind in ('commit', 'remit', 'fill')),
  target text not null,
  data bytea not null,
  gas bigint not null,
  state text not null default 'open' check (state in ('open', 'settled', 'final', 'displaced')),
  mined_hash bytea,
  block_number bigint,
  block_hash bytea,
  succeeded boolean,
  inserted_at timestamptz not null default now(),
  unique (chain, signer, nonce),
  foreign key (chain, signer) references operator_keys,
  check ((state in ('settled', 'final')) = (mined_hash is not null and block_number is not null
    and block_hash is not null and succeeded is not null))
);
create index operator_transactions_open on operator_transactions (chain, signer, nonce) where state = 'open';
create index operator_transactions_watched on operator_transactions (chain, signer, block_number) where state = 'settled';

create table operator_attempts (
  hash bytea primary key,
  transaction_id uuid not null references operator_transactions,
  raw bytea not null,
  max_fee numeric(78,0) not null,
  priority_fee numeric(78,0) not null,
  inserted_at timestamptz not null default now(),
  -- When a node last took it.
  sent_at timestamptz
);
create index operator_attempts_transaction_id on operator_attempts (transaction_id);

-- Asset, fund and token are kept as they were when the user took part: an offer may change later.
-- `holds_approval`: whether the approval is this row's for good. It is not when the row failed before its approval was
-- found right, so that nobody can spoil the hash of somebody else's transaction by naming it first.
create table participations (
  id uuid primary key,
  partner_id uuid not null references partners,
  user_id uuid not null references users,
  offer_id uuid not null,
  offer_option_id uuid not null,
  status text not null check (status in ('prepared', 'pending', 'submitted', 'completed', 'failed', 'remit_submitted',
    'remitted', 'remit_failed')),
  reason text,
  amount numeric(78,0) not null check (amount > 0),
  asset_id text not null,
  asset_code text not null,
  asset_name text not null,
  asset_digits smallint not null,
  chain text not null,
  wallet_address text not null check (wallet_address ~ '^0x[0-9a-f]{40}$'),
  fund_address text not null check (fund_address ~ '^0x[0-9a-f]{40}$'),
  token_address text not null check (token_address ~ '^0x[0-9a-f]{40}$'),
  approval_hash bytea not null check (length(approval_hash) = 32),
  holds_approval boolean not null default true,
  -- By the service's clock: since when it waits for its approval.
  prepared_at timestamptz not null,
  -- By the database's clock: when the worker looks at it again.
  check_at timestamptz not null default now(),
  -- `committed` is what the chain made of its row of the commit; null while that is not known.
  commit_id uuid references operator_transactions,
  commit_row integer,
  committed boolean,
  remit_id uuid references operator_transactions,
  remit_row integer,
  inserted_at timestamptz not null,
  updated_at timestamptz not null,
  foreign key (offer_id, offer_option_id) references offer_options (offer_id, id),
  check ((commit_id is null) = (commit_row is null)),
  check ((remit_id is null) = (remit_row is null)),
  check (status not in ('submitted', 'completed', 'remit_submitted', 'remitted', 'remit_failed') or commit_id is not null)
);
create unique index participations_approval on participations (chain, approval_hash) where holds_approval;
create unique index participations_approval_wallet on participations (chain, approval_hash, wallet_address);

-- Lists are read by (inserted_at, id) within equal values of everything that was filtered by; a list that leaves the
-- status open merges one range per status, so that one index serves both.
create index participations_partner on participations (partner_id, inserted_at, id);
create index participations_status on participations (partner_id, status, inserted_at, id);
create index participations_offer on participations (partner_id, offer_id, status, inserted_at, id);
create index participations_option on participations (partner_id, offer_option_id, status, inserted_at, id);
create index participations_user on participations (partner_id, user_id, inserted_at, id);
create index participations_user_status on participations (partner_id, user_id, status, inserted_at, id);
create index participations_user_offer on participations (partner_id, user_id, offer_id, status, inserted_at, id);
create index participations_user_option on participations (partner_id, user_id, offer_option_id, status, inserted_at, id);

-- What the worker looks for.
create index participations_prepared on participations (chain, check_at) where status = 'prepared';
create index participations_pending on participations (chain, inserted_at, id) where status = 'pending';
create index participations_to_remit on participations (chain, updated_at) where status = 'remit_submitted';
create index participations_commit on participations (commit_id, commit_row) where commit_id is not null;
create index participations_remit on participations (remit_id, remit_row) where remit_id is not null;
