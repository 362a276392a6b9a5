-- When the worker tries again to render a notice that it could not render. Null before the first attempt.
alter table notices add retry_at timestamptz;
