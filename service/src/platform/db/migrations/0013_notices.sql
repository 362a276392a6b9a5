-- Mails to users about what has changed.

-- What users do not want mails about.
create table notice_opt_outs (
  user_id uuid not null references users on delete cascade,
  topic text not null,
  primary key (user_id, topic)
);

-- Changes that users get a mail about, written in the transaction of the change by the function that makes it. A worker turns
-- them into mails: writers neither render nor notify. A row stays after its mail, so that one occurrence never gives a second
-- mail, for example when a reorganisation repeats a status.
create table notices (
  id bigint generated always as identity primary key,
  user_id uuid not null references users on delete cascade,
  kind text not null,
  occurrence text not null,
  data jsonb not null default '{}',
  written_at timestamptz not null default now(),
  -- When the worker tries again to render a notice that it could not render. Null before the first attempt.
  retry_at timestamptz,
  handled_at timestamptz,
  unique (user_id, kind, occurrence)
);
create index notices_waiting on notices (id) where handled_at is null;
create index notices_handled on notices (handled_at) where handled_at is not null;
