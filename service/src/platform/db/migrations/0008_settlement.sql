-- What the operator signs and sends, and what keeps it in step with the chains.

-- One nonce sequence per chain and operator key, and the node that may extend it.
create table operator_keys (
  chain text not null,
  address text not null,
  -- Null until the first use.
  next_nonce bigint,
  -- The highest transaction count that any node has reported for the key, pending transactions included. A count above
  -- `next_nonce` means that transactions exist which this database does not know, for example after a restore.
  seen_nonce bigint,
  -- Grows with every change of `node`: a write with an older epoch is refused, however late it comes.
  epoch bigint not null,
  node integer not null,
  lease_until timestamptz not null,
  -- When a round was last completed, for metrics and `settlement status`: every node reports it, not only the lease holder.
  good_round_at timestamptz,
  primary key (chain, address),
  constraint operator_keys_address_check check (is_address(chain, address))
);

-- The use of a key in one role on Solana. `first_height`: the block height from which it may sign, because until then
-- transactions of another key in the same role may still land. `alive_height`: the height at which it was last in use. A use
-- that was interrupted for longer must wait as if it were new: another key may have signed meanwhile, even if this database was
-- restored from before that.
create table operator_key_uses (
  chain text not null,
  address text not null,
  role text not null check (role in ('commit', 'refund')),
  first_height bigint not null,
  alive_height bigint not null,
  primary key (chain, address, role),
  foreign key (chain, address) references operator_keys
);

-- What the operator has decided to do on chain. A row is stored before anything is sent, with the signed bytes in
-- `operator_attempts`; attempts of one transaction share its nonce and its call, so at most one is ever mined.
--   open       to be mined
--   settled    mined and confirmed; still watched for reorganisations
--   final      too deep to be watched
--   displaced  its nonce was used by another transaction of this key
--
-- On Solana a transaction has a receipt account instead of a nonce. All attempts create it, so at most one succeeds; and as
-- long as it exists, nobody can repeat the transaction, whatever this database says. `displaced` then means that no attempt
-- landed before it expired. Which attempt succeeded may be unknown, because nodes forget old transactions.
create table operator_transactions (
  id uuid primary key,
  chain text not null,
  signer text not null,
  nonce bigint,
  receipt text,
  kind text not null check (kind in ('commit', 'remit', 'fill', 'revoke')),
  target text not null,
  data bytea not null,
  -- In units of gas or, on Solana, in compute units.
  gas bigint not null,
  state text not null default 'open' check (state in ('open', 'settled', 'final', 'displaced')),
  mined_hash bytea,
  block_number bigint,
  block_hash bytea,
  succeeded boolean,
  -- What a mined transaction has cost in wei, for the daily limit. Null while it is open.
  fee_paid numeric(78,0),
  -- What an operator has asked for an unmined transaction. The node that holds the lease of its key carries it out and clears
  -- it in the database transaction that stores the replacement, or records why it cannot.
  requested text check (requested in ('bump', 'cancel')),
  request_refusal text,
  -- Receipts are closed, and their rent returned, once no backup that could be restored is older than they are.
  receipt_closed_at timestamptz,
  inserted_at timestamptz not null default now(),
  foreign key (chain, signer) references operator_keys,
  constraint operator_transactions_receipt_check check (is_address(chain, receipt)),
  constraint operator_transactions_protocol_check check ((chain like 'solana%') = (nonce is null)
    and (chain like 'solana%') = (receipt is not null)),
  constraint operator_transactions_check check ((state in ('settled', 'final')) = (succeeded is not null
    and (chain like 'solana%' or (mined_hash is not null and block_number is not null and block_hash is not null))))
);
-- The nonce of a displaced transaction belongs to another one, which may be ours: adopted from the chain after this
-- database had lost it.
create unique index operator_transactions_nonce on operator_transactions (chain, signer, nonce) where state <> 'displaced';
-- `markOpen` of a displaced transaction looks for the nonce.
create index operator_transactions_displaced on operator_transactions (chain, signer, nonce) where state = 'displaced';
create unique index operator_transactions_receipt on operator_transactions (chain, receipt);
create index operator_transactions_receipts_to_close on operator_transactions (chain, signer, id)
  where receipt is not null and receipt_closed_at is null and state = 'final';
create index operator_transactions_open on operator_transactions (chain, signer, nonce) where state = 'open';
create index operator_transactions_watched on operator_transactions (chain, signer, block_number) where state = 'settled';
create index operator_transactions_inserted_at on operator_transactions (chain, signer, inserted_at);

create table operator_attempts (
  hash bytea primary key,
  transaction_id uuid not null references operator_transactions,
  raw bytea not null,
  max_fee numeric(78,0) not null,
  priority_fee numeric(78,0) not null,
  -- The last block height at which it can be mined; null if it does not expire.
  last_valid_height bigint,
  inserted_at timestamptz not null default now(),
  -- When a chain node last accepted it.
  sent_at timestamptz
);
create index operator_attempts_transaction_id on operator_attempts (transaction_id);

-- Transactions at the funds and the operator that this service did not send, until an operator has looked at them.
create table foreign_transactions (
  chain text not null,
  signature bytea not null,
  address text not null,
  -- The participation that its memo names, if any. It waits until the transaction is adopted.
  participation_id uuid,
  seen_at timestamptz not null default now(),
  adopted_at timestamptz,
  primary key (chain, signature)
);
create index foreign_transactions_open on foreign_transactions (chain, participation_id) where adopted_at is null;

-- The newest signature of each watched address that was compared with our transactions.
create table watched_addresses (
  chain text not null,
  address text not null,
  signature bytea not null,
  primary key (chain, address)
);

-- Chains and offers for which nothing is sent until an operator resumes them.
create table settlement_pauses (
  -- The name of a chain, the id of an offer, or `*` for all chains.
  subject text primary key,
  -- `operator`: by a command. `unreconciled`: the chain and the database differ.
  reason text not null check (reason in ('operator', 'unreconciled')),
  message text not null,
  inserted_at timestamptz not null default now()
);

-- When a chain was last compared with the database, and up to which block.
create table reconcile_passes (
  chain text primary key,
  -- Null until the first pass has finished.
  to_block bigint,
  -- The last participation that the background comparison of a Solana cluster has looked back at; null to start
  -- with the first one.
  cursor uuid,
  started_at timestamptz not null,
  finished_at timestamptz
);

-- What the background comparison found. `accepted_at`: an operator has resumed the offer in spite of it.
create table reconcile_differences (
  chain text not null,
  key text not null,
  offer_ids text[] not null,
  participation_ids text[] not null,
  transaction_hashes text[] not null,
  message text not null,
  found_at timestamptz not null default now(),
  accepted_at timestamptz,
  primary key (chain, key)
);

-- Calls of `revoke` on allow-list contracts, and the queue of those to send. At most one is open per wallet and contract.
--   waiting  no transaction yet, or the last one reverted
--   sent     its transaction is stored
--   done     the chain has confirmed it
create table allow_revocations (
  id uuid primary key,
  chain text not null,
  contract text not null check (contract ~ '^0x[0-9a-f]{40}$'),
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  state text not null default 'waiting' check (state in ('waiting', 'sent', 'done')),
  transaction_id uuid references operator_transactions,
  -- By the database's clock: when the worker looks at it again.
  send_at timestamptz not null default now(),
  inserted_at timestamptz not null,
  check ((state = 'waiting') = (transaction_id is null))
);
create unique index allow_revocations_open on allow_revocations (chain, contract, wallet) where state <> 'done';
create index allow_revocations_waiting on allow_revocations (chain, inserted_at, id) where state = 'waiting';
create index allow_revocations_transaction_id on allow_revocations (transaction_id) where transaction_id is not null;
