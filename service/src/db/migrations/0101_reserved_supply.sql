-- What participations have reserved of each option, per price and number of digits, so that no request sums the rows of a
-- large sale. A trigger keeps it equal to the sum, whatever changes the rows.
create table reserved_supply (
  offer_option_id uuid not null,
  asset_digits integer not null,
  price_usd numeric,
  amount numeric(78,0) not null
) with (fillfactor = 50);
create unique index reserved_supply_key on reserved_supply (offer_option_id, asset_digits, coalesce(price_usd, -1));

-- Frozen pending rows reserve nothing.
create function reserves_supply(status text, frozen_reason text) returns boolean language sql immutable as $$
  select status in ('submitted', 'completed', 'remit_submitted', 'remit_failed')
    or (status = 'pending' and frozen_reason is null)
$$;

create function add_reserved_supply(option uuid, digits integer, price numeric, delta numeric) returns void
language sql as $$
  insert into reserved_supply as r (offer_option_id, asset_digits, price_usd, amount)
    values (option, digits, price, delta)
  on conflict (offer_option_id, asset_digits, coalesce(price_usd, -1)) do update set amount = r.amount + excluded.amount
$$;

-- A change that leaves the sum as it is takes no lock, and locks are taken in one order.
create function count_reserved_supply() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform add_reserved_supply(offer_option_id, asset_digits, price_usd, delta) from (
      select offer_option_id, asset_digits, price_usd, sum(amount) as delta from new_rows
      where reserves_supply(status, frozen_reason)
      group by offer_option_id, asset_digits, price_usd order by 1, 2, 3) changed;
  elsif tg_op = 'DELETE' then
    perform add_reserved_supply(offer_option_id, asset_digits, price_usd, delta) from (
      select offer_option_id, asset_digits, price_usd, -sum(amount) as delta from old_rows
      where reserves_supply(status, frozen_reason)
      group by offer_option_id, asset_digits, price_usd order by 1, 2, 3) changed;
  else
    perform add_reserved_supply(offer_option_id, asset_digits, price_usd, delta) from (
      select offer_option_id, asset_digits, price_usd, sum(amount) as delta from (
        select offer_option_id, asset_digits, price_usd, amount from new_rows
        where reserves_supply(status, frozen_reason)
        union all select offer_option_id, asset_digits, price_usd, -amount from old_rows
        where reserves_supply(status, frozen_reason)) moved
      group by offer_option_id, asset_digits, price_usd having sum(amount) <> 0 order by 1, 2, 3) changed;
  end if;
  return null;
end
$$;

-- Creating a trigger keeps writers away until this migration ends, so that the sum below misses nothing.
create trigger participations_reserved_inserted after insert on participations
  referencing new table as new_rows for each statement execute function count_reserved_supply();
create trigger participations_reserved_updated after update on participations
  referencing old table as old_rows new table as new_rows for each statement execute function count_reserved_supply();
create trigger participations_reserved_deleted after delete on participations
  referencing old table as old_rows for each statement execute function count_reserved_supply();
insert into reserved_supply (offer_option_id, asset_digits, price_usd, amount)
  select offer_option_id, asset_digits, price_usd, sum(amount) from participations
  where reserves_supply(status, frozen_reason) group by offer_option_id, asset_digits, price_usd;

drop index participations_supply;
