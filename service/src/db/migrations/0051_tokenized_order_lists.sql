-- The platform's cut when the calldata was issued; the offer's fee may change later.
alter table tokenized_orders add column fee numeric(78, 0);
create index tokenized_orders_partner on tokenized_orders (partner_id, inserted_at, id);
create index tokenized_orders_user on tokenized_orders (partner_id, user_id, inserted_at, id);
