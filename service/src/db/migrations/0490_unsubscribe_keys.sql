-- Keys of the unsubscribe links that were made with a secret that is no longer listed, sealed with a newer one. A link in
-- a mail must work for as long as the mail exists.
create table unsubscribe_keys (
  fingerprint bytea primary key,
  sealed bytea not null
);
