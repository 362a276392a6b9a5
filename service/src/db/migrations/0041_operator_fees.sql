-- What a mined transaction has cost in wei, for the daily limit. Null while it is open.
alter table operator_transactions add column fee_paid numeric(78,0);
create index operator_transactions_inserted_at on operator_transactions (chain, signer, inserted_at);
