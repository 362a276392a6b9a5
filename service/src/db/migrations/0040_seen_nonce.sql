-- The highest transaction count that any node has reported for the key, pending transactions included. A count above
-- `next_nonce` means that transactions exist which this database does not know, for example after a restore.
alter table operator_keys add column seen_nonce bigint;
