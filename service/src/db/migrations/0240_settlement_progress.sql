-- When a key last completed a round, for metrics and `settlement status`: every node reports it, not only the lease holder.
alter table operator_keys add column good_round_at timestamptz;
-- When the last comparison of a chain ended.
alter table reconcile_passes add column finished_at timestamptz;
