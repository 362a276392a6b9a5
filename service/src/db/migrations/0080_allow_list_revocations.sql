-- The operator also revokes wallets on allow-list contracts.
alter table operator_transactions drop constraint operator_transactions_kind_check;
alter table operator_transactions add constraint operator_transactions_kind_check
  check (kind in ('commit', 'remit', 'fill', 'revoke'));

-- `revoking`: its user has lost eligibility and a revocation is open; `revoked`: the chain has revoked the wallet. `check_at`
-- is when the eligibility behind a permission or an allowed wallet is decided again, by the service's clock.
alter table allow_verifications drop constraint allow_verifications_state_check;
alter table allow_verifications add constraint allow_verifications_state_check
  check (state in ('permitted', 'allowed', 'expired', 'revoking', 'revoked'));
alter table allow_verifications add column check_at timestamptz not null default '-infinity';
create index allow_verifications_check_at on allow_verifications (check_at) where state in ('permitted', 'allowed');
create index allow_verifications_user_id on allow_verifications (user_id);
create index allow_verifications_wallet on allow_verifications (wallet, chain, contract);

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
