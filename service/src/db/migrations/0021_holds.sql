-- Accounts that an operator has put on hold. `held_at` is on the user's row, so that a write that locks the row is either
-- before the hold or refused. `user_holds` is the history with the reasons, for operators only.
alter table users add column held_at timestamptz;
create table user_holds (
  id uuid primary key,
  user_id uuid not null references users,
  reason text not null,
  held_at timestamptz not null,
  release_reason text,
  released_at timestamptz,
  check ((release_reason is null) = (released_at is null))
);
create unique index user_holds_open on user_holds (user_id) where released_at is null;
create index user_holds_user_id on user_holds (user_id, held_at);

-- Why nothing is sent for a row until an operator decides. Never part of a reply or an event.
alter table participations add column frozen_reason text check (frozen_reason in ('hold', 'sanctions'));
-- The price that the row was accepted with; null if the option had none.
alter table participations add column price_usd numeric;
update participations p set price_usd = o.price_usd from offer_options o where o.id = p.offer_option_id;
create index participations_supply on participations (offer_option_id) where status in
  ('pending', 'submitted', 'completed', 'remit_submitted', 'remit_failed');
