-- Chains and offers for which nothing is sent until an operator resumes them.
create table settlement_pauses (
  -- The name of a chain or the id of an offer.
  subject text primary key,
  -- `operator`: by a command. `unreconciled`: the chain and the database differ.
  reason text not null check (reason in ('operator', 'unreconciled')),
  message text not null,
  inserted_at timestamptz not null default now()
);
