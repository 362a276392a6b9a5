-- A resend is leased like a scheduled attempt, so that one whose sender dies is made again.
alter table webhook_deliveries add resend_lease_until timestamptz;

-- Deliveries of an endpoint that failed or were skipped, which `recover` sends again.
create index webhook_deliveries_missed on webhook_deliveries (endpoint_id, sequence) where state in ('failed', 'skipped');
-- Endpoints that housekeeping removes with their deliveries.
create index webhook_endpoints_deleted on webhook_endpoints (deleted_at) where deleted_at is not null;
