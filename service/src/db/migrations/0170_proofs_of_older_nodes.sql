-- During an upgrade, nodes of version 0.1 go on binding wallets and giving permissions without recording a proof. They have
-- verified a signature, so both count as proofs, like those made before the upgrade. At commit, when a node of this version
-- has written its own proof.
create function record_proof() returns trigger language plpgsql as $$
declare
  proven record;
begin
  if tg_table_name = 'option_addresses' then
    select new.address as address, new.protocol as protocol, new.proved_chain as chain, new.proved_at as proved_at into proven;
  else
    select new.wallet as address, 'ethereum' as protocol, new.chain as chain, new.updated_at as proved_at into proven;
  end if;
  insert into wallet_proofs (partner_id, address, chain, protocol, user_id, kind, proved_at)
    select new.partner_id, proven.address, case when proven.protocol = 'solana' then '*' else proven.chain end,
      proven.protocol, new.user_id, case when proven.protocol = 'solana' then 'key' else 'recorded' end, proven.proved_at
    where not exists (select from wallet_proofs p where p.partner_id = new.partner_id and p.address = proven.address)
    on conflict do nothing;
  return null;
end
$$;
create constraint trigger record_proof_of_binding after insert or update of address on option_addresses
  deferrable initially deferred for each row execute function record_proof();
create constraint trigger record_proof_of_permission after insert or update of state on allow_verifications
  deferrable initially deferred for each row when (new.state = 'permitted') execute function record_proof();
