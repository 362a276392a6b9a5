-- By the database's clock: when an order is looked up next. A node that takes it moves the time, so that no two nodes look
-- up the same order, and orders whose chain does not answer go to the end of the queue.
alter table tokenized_orders add column check_at timestamptz not null default now();
drop index tokenized_orders_live;
create index tokenized_orders_live on tokenized_orders (check_at)
  where state in ('asking', 'unknown', 'attested', 'live');
