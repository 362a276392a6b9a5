-- Participations, the supply that they reserve, and their refunds.

-- Asset, fund and token are stored as they were when the user took part: an offer may change later.
create table participations (
  id uuid primary key,
  partner_id uuid not null references partners,
  user_id uuid not null references users,
  offer_id uuid not null,
  offer_option_id uuid not null,
  status text not null check (status in ('prepared', 'pending', 'submitted', 'completed', 'failed', 'remit_submitted',
    'remitted', 'remit_failed')),
  reason text,
  -- Why nothing is sent for a row until an operator decides. Never part of a reply or an event.
  frozen_reason text check (frozen_reason in ('hold', 'sanctions')),
  -- Why a prepared or pending row is to fail as soon as nothing that was signed can commit it. Nothing is sent for it
  -- meanwhile.
  ending_reason text,
  amount numeric(78,0) not null check (amount > 0),
  -- The price that the row was accepted with; null if the option had none.
  price_usd numeric,
  asset_id text not null,
  asset_code text not null,
  asset_name text not null,
  asset_digits smallint not null,
  chain text not null,
  wallet_address text not null,
  fund_address text not null,
  token_address text not null,
  -- The token account on Solana that was approved; known once the approval was found.
  source_address text,
  -- The token account on Solana that the commit pays into.
  vault_address text,
  approval_hash bytea not null,
  -- Whether the row has claimed the approval by (chain, hash, wallet). A row that failed before its approval was verified
  -- claims nothing, so that nobody can block another user's transaction by naming its hash first.
  holds_approval boolean not null default true,
  -- By the service's clock: since when it waits for its approval.
  prepared_at timestamptz not null,
  -- When a frozen row was resumed. It expires this long after the request, or after it was resumed, whichever is later.
  resumed_at timestamptz,
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
  constraint participations_addresses_check check (is_address(chain, wallet_address) and is_address(chain, fund_address)
    and is_address(chain, token_address) and is_address(chain, source_address) and is_address(chain, vault_address)),
  constraint participations_solana_check check ((chain like 'solana%') = (vault_address is not null)
    and (chain like 'solana%' or source_address is null)),
  -- Signatures on Solana have 64 bytes.
  constraint participations_approval_hash_check
    check (length(approval_hash) = case when chain like 'solana%' then 64 else 32 end),
  check ((commit_id is null) = (commit_row is null)),
  check ((remit_id is null) = (remit_row is null)),
  check (status not in ('submitted', 'completed', 'remit_submitted', 'remitted', 'remit_failed') or commit_id is not null)
);
create unique index participations_approval on participations (chain, approval_hash, wallet_address) where holds_approval;
create index participations_approval_hash on participations (chain, approval_hash);

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

-- In one sale almost all rows have the same offer and the same status. With statistics of only one value, the planner would
-- take every index for as good as the one that fits a list, and read all rows to find that there are none. So it assumes
-- these numbers of distinct values, whatever ANALYZE finds.
alter table participations alter column status set (n_distinct = 8);
alter table participations alter column offer_id set (n_distinct = 1000);
alter table participations alter column offer_option_id set (n_distinct = 1000);

-- What the worker looks for. The backlog of each status has an index of its own, which metrics count from.
create index participations_prepared on participations (chain, check_at) where status = 'prepared';
create index participations_pending on participations (chain, inserted_at, id) where status = 'pending';
create index participations_submitted on participations (chain, updated_at) where status = 'submitted';
create index participations_to_remit on participations (chain, updated_at) where status = 'remit_submitted';
create index participations_commit on participations (commit_id, commit_row) where commit_id is not null;
create index participations_remit on participations (remit_id, remit_row) where remit_id is not null;
create index participations_ending on participations (chain, check_at)
  where ending_reason is not null and status in ('prepared', 'pending');
-- The pending rows of an offer by the time since which they wait. The worker looks for expired ones before every commit,
-- which must not read the whole backlog.
create index participations_expiring on participations (offer_id, chain, greatest(prepared_at, resumed_at))
  where status = 'pending' and frozen_reason is null;

-- For the limit of prepared participations per user.
create index participations_prepared_user on participations (user_id) where status = 'prepared';
-- Participations that share an allowance, and those of a wallet that is frozen.
create index participations_wallet on participations (wallet_address, status) where status not in ('failed', 'remitted');

-- What participations have reserved of each option, per price and number of digits, so that no request sums the rows of a
-- large sale. A trigger keeps it equal to the sum, whatever changes the rows.
create table reserved_supply (
  offer_option_id uuid not null,
  asset_digits integer not null,
  price_usd numeric,
  amount numeric(78,0) not null
) with (fillfactor = 50);
create unique index reserved_supply_key on reserved_supply (offer_option_id, asset_digits, coalesce(price_usd, -1));

-- Frozen pending rows reserve nothing, nor do rows that are about to fail.
create function reserves_supply(status text, frozen_reason text, ending_reason text) returns boolean language sql immutable as $$
  select status in ('submitted', 'completed', 'remit_submitted', 'remit_failed')
    or (status = 'pending' and frozen_reason is null and ending_reason is null)
$$;

create function add_reserved_supply(option uuid, digits integer, price numeric, delta numeric) returns void
language sql as $$
  insert into reserved_supply as r (offer_option_id, asset_digits, price_usd, amount)
    values (option, digits, price, delta)
  on conflict (offer_option_id, asset_digits, coalesce(price_usd, -1)) do update set amount = r.amount + excluded.amount
$$;

-- A change that leaves the sum as it is takes no lock, and locks are taken in one order.
create function count_reserved_supply() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform add_reserved_supply(offer_option_id, asset_digits, price_usd, delta) from (
      select offer_option_id, asset_digits, price_usd, sum(amount) as delta from new_rows
      where reserves_supply(status, frozen_reason, ending_reason)
      group by offer_option_id, asset_digits, price_usd order by 1, 2, 3) changed;
  elsif tg_op = 'DELETE' then
    perform add_reserved_supply(offer_option_id, asset_digits, price_usd, delta) from (
      select offer_option_id, asset_digits, price_usd, -sum(amount) as delta from old_rows
      where reserves_supply(status, frozen_reason, ending_reason)
      group by offer_option_id, asset_digits, price_usd order by 1, 2, 3) changed;
  else
    perform add_reserved_supply(offer_option_id, asset_digits, price_usd, delta) from (
      select offer_option_id, asset_digits, price_usd, sum(amount) as delta from (
        select offer_option_id, asset_digits, price_usd, amount from new_rows
        where reserves_supply(status, frozen_reason, ending_reason)
        union all select offer_option_id, asset_digits, price_usd, -amount from old_rows
        where reserves_supply(status, frozen_reason, ending_reason)) moved
      group by offer_option_id, asset_digits, price_usd having sum(amount) <> 0 order by 1, 2, 3) changed;
  end if;
  return null;
end
$$;

create trigger participations_reserved_inserted after insert on participations
  referencing new table as new_rows for each statement execute function count_reserved_supply();
create trigger participations_reserved_updated after update on participations
  referencing old table as old_rows new table as new_rows for each statement execute function count_reserved_supply();
create trigger participations_reserved_deleted after delete on participations
  referencing old table as old_rows for each statement execute function count_reserved_supply();

-- The refunds that operators have requested: what one person requests in 24 hours is limited, and more needs a second one.
create table refund_requests (
  id uuid primary key,
  -- The name of the person, such as the OS user who runs the command.
  operator text not null,
  participation_ids uuid[] not null,
  amount_usd numeric not null,
  -- `unconfirmed` requests wait for a second person and have changed nothing.
  state text not null check (state in ('allowed', 'unconfirmed', 'confirmed')),
  confirmed_by text check (confirmed_by <> operator),
  inserted_at timestamptz not null default now(),
  check ((state = 'confirmed') = (confirmed_by is not null))
);
create index refund_requests_recent on refund_requests (operator, inserted_at);

-- The REFUND_DAILY_LIMIT_USD of the nodes over time. Commands apply the lowest of the last 24 hours, whatever their own
-- environment says: a lower limit holds at once, a higher one a day after a node was started with it.
create table refund_limits (
  id bigint generated always as identity primary key,
  -- Null: no limit.
  limit_usd numeric,
  recorded_at timestamptz not null default now()
);
