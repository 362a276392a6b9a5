-- A key whose secret was removed may verify checkpoints of the first `size` entries only, and those entries must still have
-- this chain hash: otherwise somebody who has the database and a removed secret could rewrite the log and sign it again. The
-- tag, made with a listed secret, covers all three. Rows without an end are not trusted. No release has written any.
delete from audit_former_keys;
alter table audit_former_keys
  add size bigint not null,
  add chain_hash bytea not null;
