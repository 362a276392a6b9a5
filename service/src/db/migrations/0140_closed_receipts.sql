-- Receipts are closed, and their rent returned, once no backup that could be restored is older than they are.
alter table operator_transactions add column receipt_closed_at timestamptz;

create index operator_transactions_receipts_to_close on operator_transactions (chain, signer, id)
  where receipt is not null and receipt_closed_at is null and state = 'final';
