-- One comparison of email addresses, in SQL and in JavaScript alike: only ASCII letters ignore case, whatever the locale of
-- the database. Nodes of the previous version still use the index users_email.
create unique index users_email_ascii on users (lower(email collate "C"));

-- Browsers and networks from which an account has been signed in to. They have limits of their own, so that a stranger
-- who guesses passwords does not lock them out.
create table sign_in_sources (
  account bytea not null,
  source bytea not null,
  used_at timestamptz not null default now(),
  primary key (account, source)
);
create index sign_in_sources_used_at on sign_in_sources (used_at);
