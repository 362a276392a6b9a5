-- Enabling a disabled partner ends everything that was issued to it before, whoever enables it. `issued_at` has whole
-- seconds of a node's clock, `inserted_at` is exact and comes from the database.
alter table partners add tokens_valid_from timestamptz not null default '-infinity';
alter table oauth_tokens add inserted_at timestamptz not null default now();
alter table oauth_artifacts add inserted_at timestamptz not null default now();

create function end_partner_tokens() returns trigger language plpgsql as $$
begin
  new.tokens_valid_from := clock_timestamp();
  return new;
end
$$;
create trigger partner_enabled before update of disabled_at on partners
  for each row when (old.disabled_at is not null and new.disabled_at is null) execute function end_partner_tokens();
