-- Participations on Solana. Addresses there are base58 of 32 bytes and keep their case; signatures have 64 bytes.
create function is_address(chain text, address text) returns boolean language sql immutable as
  $$ select case when chain like 'solana%' then address ~ '^[1-9A-HJ-NP-Za-km-z]{32,44}$'
    else address ~ '^0x[0-9a-f]{40}$' end $$;

alter table participations
  drop constraint participations_wallet_address_check,
  drop constraint participations_fund_address_check,
  drop constraint participations_token_address_check,
  drop constraint participations_approval_hash_check,
  -- The token account that was approved; known once the approval was found.
  add column source_address text,
  -- The token account that the commit pays into.
  add column vault_address text,
  add constraint participations_addresses_check check (is_address(chain, wallet_address) and is_address(chain, fund_address)
    and is_address(chain, token_address) and is_address(chain, source_address) and is_address(chain, vault_address)),
  add constraint participations_solana_check check ((chain like 'solana%') = (vault_address is not null)
    and (chain like 'solana%' or source_address is null)),
  add constraint participations_approval_hash_check
    check (length(approval_hash) = case when chain like 'solana%' then 64 else 32 end);
create index participations_source on participations (source_address)
  where source_address is not null and status in ('pending', 'submitted');

alter table operator_keys
  drop constraint operator_keys_address_check,
  -- The block height from which a key may sign: until then, transactions of another key of the same funds may still land.
  add column first_height bigint,
  add constraint operator_keys_address_check check (is_address(chain, address));

-- On Solana a transaction has a receipt account instead of a nonce. All attempts create it, so at most one succeeds; and as
-- long as it exists, nobody can repeat the transaction, whatever this database says. `displaced` then means that no attempt
-- landed before it expired. Which attempt succeeded may be unknown, because nodes forget old transactions.
alter table operator_transactions
  alter column nonce drop not null,
  add column receipt text,
  drop constraint operator_transactions_check,
  add constraint operator_transactions_receipt_check check (is_address(chain, receipt)),
  add constraint operator_transactions_protocol_check check ((chain like 'solana%') = (nonce is null)
    and (chain like 'solana%') = (receipt is not null)),
  add constraint operator_transactions_check check ((state in ('settled', 'final')) = (succeeded is not null
    and (chain like 'solana%' or (mined_hash is not null and block_number is not null and block_hash is not null))));
create unique index operator_transactions_receipt on operator_transactions (chain, receipt);

alter table operator_attempts add column last_valid_height bigint;

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

alter table offer_contracts
  drop constraint offer_contracts_address_check,
  drop constraint offer_contracts_asset_address_check,
  drop constraint offer_contracts_allow_list_check,
  -- The token account that commits on Solana pay into: the associated account of a cold wallet.
  add column vault text,
  add constraint offer_contracts_addresses_check check (is_address(chain, address) and is_address(chain, asset_address)
    and is_address(chain, allow_list) and is_address(chain, vault)),
  add constraint offer_contracts_solana_check check ((chain like 'solana%') = (vault is not null)
    and (chain not like 'solana%' or (kind = 'fund' and allow_list is null)));

alter table offer_funding_tokens
  drop constraint offer_funding_tokens_address_check,
  add constraint offer_funding_tokens_address_check check (is_address(chain, address));
