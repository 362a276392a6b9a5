-- A Merkle tree (RFC 6962) over the audit log, as tiles of up to 256 hashes (C2SP tlog-tiles): level 0 has the leaves, and each
-- hash of level n + 1 is the root of a full tile of level n. The sealer appends to them when it signs a checkpoint. They stay
-- when entries are deleted.
create table audit_tiles (
  level smallint not null,
  index bigint not null,
  hashes bytea not null check (octet_length(hashes) % 32 = 0 and octet_length(hashes) between 32 and 8192),
  primary key (level, index)
);
-- Hashes do not compress.
alter table audit_tiles alter column hashes set storage external;

-- The tiles are public. Leaves have a salt derived from this key, because entries without one could be guessed.
create table audit_blinding (
  only_row boolean primary key default true check (only_row),
  key bytea not null
);
insert into audit_blinding (key)
  values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

-- Checkpoints of older nodes have the hash of the chain, the others (`tree`) the root of the tree. Both may have the same size.
alter table audit_checkpoints add tree boolean not null default false;
alter table audit_checkpoints drop constraint audit_checkpoints_pkey;
alter table audit_checkpoints add primary key (size, tree);

create function refuse_tile_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.level = old.level and new.index = old.index
    and substr(new.hashes, 1, octet_length(old.hashes)) = old.hashes then return new; end if;
  raise exception 'the audit log cannot be changed';
end
$$;
create trigger audit_tiles_fixed before update or delete on audit_tiles
  for each row execute function refuse_tile_change();
create trigger audit_tiles_kept before truncate on audit_tiles
  for each statement execute function refuse_checkpoint_change();
create trigger audit_blinding_fixed before update or delete or truncate on audit_blinding
  for each statement execute function refuse_checkpoint_change();
