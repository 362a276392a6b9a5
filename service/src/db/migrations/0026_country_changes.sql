-- Changes of the country or region of residence. `is_flagged`: an offer or the blocked countries rejected the old place and
-- accept the new one. The places themselves are sealed with the user's personal data.
create table country_changes (
  user_id uuid not null references users on delete cascade,
  changed_at timestamptz not null,
  is_flagged boolean not null,
  approved_at timestamptz,
  primary key (user_id, changed_at)
);
create index country_changes_open on country_changes (changed_at) where approved_at is null;
