-- The buy price of one token over time, for charts: every five minutes while the market is open. `is_kept` marks the
-- first price of each hour, which is kept for a year after the others are deleted.
create table tokenized_prices (
  symbol text not null,
  recorded_at timestamptz not null,
  price numeric not null check (price > 0),
  session text not null,
  is_kept boolean not null,
  primary key (symbol, recorded_at)
);
create index tokenized_prices_age on tokenized_prices (is_kept, recorded_at);
