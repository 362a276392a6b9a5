-- The installation's part of the ids that funds of the second generation store for its commitments. A restored or copied
-- database keeps it, so that a fund refuses what the original has committed.
create table installation_ids (
  singleton boolean primary key default true check (singleton),
  id uuid not null default gen_random_uuid()
);
insert into installation_ids default values;
