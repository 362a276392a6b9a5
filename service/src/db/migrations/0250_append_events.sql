-- Inserts events in the given order. The service sends the call together with `commit`, so it is a procedure: PostgreSQL
-- keeps the plan of the insert, although the call itself cannot be a prepared statement.
create procedure append_events(new_events json) language plpgsql as $$
begin
  insert into events (id, partner_id, user_id, type, data, changes, related, request_id, inserted_at)
  select id, partner_id, user_id, type, data, changes, related, request_id, inserted_at
  from json_to_recordset(new_events) as e (id uuid, partner_id uuid, user_id uuid, type text, data jsonb, changes jsonb,
    related jsonb, request_id text, inserted_at timestamptz);
end
$$;
