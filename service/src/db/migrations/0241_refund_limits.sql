-- The REFUND_DAILY_LIMIT_USD of the nodes over time. Commands apply the lowest of the last 24 hours, whatever their own
-- environment says: a lower limit holds at once, a higher one a day after a node was started with it.
create table refund_limits (
  id bigint generated always as identity primary key,
  -- Null: no limit.
  limit_usd numeric,
  recorded_at timestamptz not null default now()
);
create trigger refund_limits_audit after insert on refund_limits
  for each row execute function audit_row('refund_limit', 'id', '', 'limit_usd');
