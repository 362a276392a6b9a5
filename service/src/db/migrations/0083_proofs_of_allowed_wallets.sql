-- Version 0.1 verified a signature before it gave a permission, but recorded no proof. Like bindings of that version, these
-- signatures count as proofs, so that the check of allowed wallets does not take the wallets for unproven.
insert into wallet_proofs (partner_id, address, chain, protocol, user_id, kind, proved_at)
select distinct on (partner_id, wallet, chain) partner_id, wallet, chain, 'ethereum', user_id, 'recorded', updated_at
from allow_verifications v
where state in ('permitted', 'allowed') and not exists (
  select from wallet_proofs p where p.partner_id = v.partner_id and p.address = v.wallet)
order by partner_id, wallet, chain, updated_at desc, id desc
on conflict do nothing;
