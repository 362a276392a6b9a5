-- The use of a key in one role on Solana. `first_height`: the block height from which it may sign, because until then
-- transactions of another key in the same role may still land. `alive_height`: the height at which it was last in use. A use
-- that was interrupted for longer must wait as if it were new: another key may have signed meanwhile, even if this database was
-- restored from before that.
create table operator_key_uses (
  chain text not null,
  address text not null,
  role text not null check (role in ('commit', 'refund')),
  first_height bigint not null,
  alive_height bigint not null,
  primary key (chain, address, role),
  foreign key (chain, address) references operator_keys
);
insert into operator_key_uses (chain, address, role, first_height, alive_height)
  select chain, address, role, first_height, alive_height from operator_keys, unnest(array['commit', 'refund']) as role
  where first_height is not null and alive_height is not null;
alter table operator_keys drop column first_height, drop column alive_height;
