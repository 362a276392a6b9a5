-- A claim goes from subject to subject when the oldest deliveries all wait for others of their subject. Without the index
-- it read the whole queue of the endpoint each time.
create index webhook_deliveries_queues on webhook_deliveries (endpoint_id, coalesce(subject, id::text), sequence)
  where state = 'pending' and step <= 0 and lease_until is null;
