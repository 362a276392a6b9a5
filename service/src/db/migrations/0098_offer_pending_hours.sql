-- How long a participation of the offer may stay `pending`; null for the default of the service.
alter table offers add column pending_hours integer check (pending_hours between 1 and 8760);
