-- When a frozen row was resumed. It expires this long after the request, or after it was resumed, whichever is later.
alter table participations add column resumed_at timestamptz;
