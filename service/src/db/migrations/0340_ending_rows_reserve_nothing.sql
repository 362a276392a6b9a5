-- Rows that are about to fail reserve nothing. They stayed frozen for that before, so a row that completed after all, because
-- its commit landed, could not be refunded.
lock table participations in share row exclusive mode;

create function reserves_supply(status text, frozen_reason text, ending_reason text) returns boolean language sql immutable as $$
  select status in ('submitted', 'completed', 'remit_submitted', 'remit_failed')
    or (status = 'pending' and frozen_reason is null and ending_reason is null)
$$;

-- A change that leaves the sum as it is takes no lock, and locks are taken in one order.
create or replace function count_reserved_supply() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform add_reserved_supply(offer_option_id, asset_digits, price_usd, delta) from (
      select offer_option_id, asset_digits, price_usd, sum(amount) as delta from new_rows
      where reserves_supply(status, frozen_reason, ending_reason)
      group by offer_option_id, asset_digits, price_usd order by 1, 2, 3) changed;
  elsif tg_op = 'DELETE' then
    perform add_reserved_supply(offer_option_id, asset_digits, price_usd, delta) from (
      select offer_option_id, asset_digits, price_usd, -sum(amount) as delta from old_rows
      where reserves_supply(status, frozen_reason, ending_reason)
      group by offer_option_id, asset_digits, price_usd order by 1, 2, 3) changed;
  else
    perform add_reserved_supply(offer_option_id, asset_digits, price_usd, delta) from (
      select offer_option_id, asset_digits, price_usd, sum(amount) as delta from (
        select offer_option_id, asset_digits, price_usd, amount from new_rows
        where reserves_supply(status, frozen_reason, ending_reason)
        union all select offer_option_id, asset_digits, price_usd, -amount from old_rows
        where reserves_supply(status, frozen_reason, ending_reason)) moved
      group by offer_option_id, asset_digits, price_usd having sum(amount) <> 0 order by 1, 2, 3) changed;
  end if;
  return null;
end
$$;
drop function reserves_supply(text, text);

select add_reserved_supply(offer_option_id, asset_digits, price_usd, delta) from (
  select offer_option_id, asset_digits, price_usd, -sum(amount) as delta from participations
  where status = 'pending' and frozen_reason is null and ending_reason is not null
  group by offer_option_id, asset_digits, price_usd order by 1, 2, 3) changed;
