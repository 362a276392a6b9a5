-- The nonce of a displaced transaction belongs to another one, which may be ours: adopted from the chain after this
-- database had lost it.
alter table operator_transactions drop constraint operator_transactions_chain_signer_nonce_key;
create unique index operator_transactions_nonce on operator_transactions (chain, signer, nonce) where state <> 'displaced';
-- `markOpen` of a displaced transaction looks for the nonce.
create index operator_transactions_displaced on operator_transactions (chain, signer, nonce) where state = 'displaced';
