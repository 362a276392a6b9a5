-- Why the contract of an offer cannot be read. While it is set, nobody can invest through this contract.
alter table offer_contracts
  add column unreadable_code text check (unreadable_code in ('contract_not_found', 'contract_reverted')),
  add column unreadable_reason text,
  add check ((unreadable_code is null) = (unreadable_reason is null));
