-- The two parts of an endpoint's queue: deliveries that were not started, and those that wait for their next attempt.
create index webhook_deliveries_waiting on webhook_deliveries (endpoint_id, sequence)
  where state = 'pending' and step <= 0 and lease_until is null;
create index webhook_deliveries_retries on webhook_deliveries (endpoint_id, next_attempt_at)
  where state = 'pending' and (step > 0 or lease_until is not null);
-- Claims looked for earlier deliveries of a subject here; webhook_deliveries_started answers that now.
drop index webhook_deliveries_subject;
