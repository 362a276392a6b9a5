-- Why operators were alerted of calldata that cannot be recalled. Never part of a reply or an event.
alter table tokenized_orders add column restricted_reason text check (restricted_reason in ('hold', 'sanctions'));
