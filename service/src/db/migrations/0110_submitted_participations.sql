-- The backlog of each status has an index of its own, which metrics count from.
create index participations_submitted on participations (chain, updated_at) where status = 'submitted';
