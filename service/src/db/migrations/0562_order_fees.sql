-- The fee is stored with the calldata.
alter table tokenized_orders add check (fee is not null or state not in ('live', 'executed', 'expired'));
