-- Wallets that users have proven to own, per partner. A plain key proves its address on every chain of its protocol
-- (`chain` is '*'). A contract wallet is proven on the chain that verified it; its text and signature are kept, because the
-- contract is asked again whenever the wallet is used. `recorded`: a binding of version 0.1, which kept no signature.
create table wallet_proofs (
  partner_id uuid not null references partners,
  address text not null,
  chain text not null,
  protocol text not null check (protocol in ('ethereum', 'solana')),
  user_id uuid not null references users,
  kind text not null check (kind in ('key', 'contract', 'recorded')),
  text text,
  signature text,
  proved_at timestamptz not null,
  primary key (partner_id, address, chain),
  check ((kind = 'key') = (chain = '*')),
  check ((kind = 'contract') = (text is not null and signature is not null))
);
create index wallet_proofs_user_id on wallet_proofs (user_id);

insert into wallet_proofs (partner_id, address, chain, protocol, user_id, kind, proved_at)
select distinct on (partner_id, address, chain) partner_id, address, chain, protocol, user_id, kind, proved_at
from (select *, case when protocol = 'solana' then '*' else proved_chain end as chain,
  case when protocol = 'solana' then 'key' else 'recorded' end as kind from option_addresses) bound
order by partner_id, address, chain, proved_at desc, id desc;

-- Keyed hashes of all wallets that a user has ever proven, kept after removal and erasure, so that a wallet of a held or
-- finally rejected account cannot be proven by another account.
create table wallet_owners (
  hash bytea not null,
  user_id uuid not null references users,
  primary key (hash, user_id)
);
create index option_addresses_address on option_addresses (address);

-- An approval is claimed by (chain, hash, wallet). Rows that failed before their approval was found right claim nothing.
drop index participations_approval;
drop index participations_approval_wallet;
create unique index participations_approval on participations (chain, approval_hash, wallet_address) where holds_approval;
create index participations_approval_hash on participations (chain, approval_hash);
create index participations_wallet on participations (wallet_address, user_id) where status in ('prepared', 'pending', 'submitted');
