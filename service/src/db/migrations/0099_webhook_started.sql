-- Deliveries that were started and have not ended: each holds back later ones about its subject.
create index webhook_deliveries_started on webhook_deliveries (endpoint_id, subject)
  where state = 'pending' and (step > 0 or lease_until is not null);
