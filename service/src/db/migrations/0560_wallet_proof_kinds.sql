-- The service records every proof itself, with the kind of the signer.
drop trigger record_proof_of_binding on option_addresses;
drop trigger record_proof_of_permission on allow_verifications;
drop function record_proof;
alter table wallet_proofs drop constraint wallet_proofs_kind_check, add check (kind in ('key', 'contract'));
