-- Public keys that verify checkpoints signed with a secret that is no longer listed. The tag is made with a listed secret.
create table audit_former_keys (
  public_key bytea primary key check (octet_length(public_key) = 32),
  tag bytea not null
);
