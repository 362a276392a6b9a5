-- A Merkle tree (RFC 6962) over the events of each partner, in the order of `sequence`: it proves offline that an event was
-- logged. Rows are the hashes of complete subtrees: level 0 are the leaves, and a node of level n covers 2^n of them. They
-- stay when events expire.
create table event_tree_nodes (
  partner_id uuid not null,
  level smallint not null,
  index bigint not null,
  hash bytea not null,
  primary key (partner_id, level, index)
);
create table event_trees (
  partner_id uuid primary key,
  size bigint not null
);
