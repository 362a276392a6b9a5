-- What housekeeping looks for: orders that ended without a trade, by when they ended.
create index tokenized_orders_ended on tokenized_orders (updated_at)
  where state in ('refused', 'failed', 'abandoned', 'expired');
