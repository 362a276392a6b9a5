-- Keys of the hashes in wallet_owners that were made with a secret that is no longer listed, sealed with a newer one. The
-- hashes cannot be made again, because the addresses are not kept.
create table wallet_owner_keys (
  fingerprint bytea primary key,
  sealed bytea not null
);
