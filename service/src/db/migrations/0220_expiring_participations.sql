-- The pending rows of an offer by the time since which they wait. The worker looks for expired ones before every commit,
-- which must not read the whole backlog.
create index participations_expiring on participations (offer_id, chain, greatest(prepared_at, resumed_at))
  where status = 'pending' and frozen_reason is null;
