-- The refunds that operators have requested: what one person requests in 24 hours is limited, and more needs a second one.
create table refund_requests (
  id uuid primary key,
  -- The name of the person, such as the OS user who runs the command.
  operator text not null,
  participation_ids uuid[] not null,
  amount_usd numeric not null,
  -- `unconfirmed` requests wait for a second person and have changed nothing.
  state text not null check (state in ('allowed', 'unconfirmed', 'confirmed')),
  confirmed_by text check (confirmed_by <> operator),
  inserted_at timestamptz not null default now(),
  check ((state = 'confirmed') = (confirmed_by is not null))
);
create index refund_requests_recent on refund_requests (operator, inserted_at);
create trigger refund_requests_audit after insert or update on refund_requests
  for each row execute function audit_row('refund_request', 'id', 'state', '');
