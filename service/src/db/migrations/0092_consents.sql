-- A consent is remembered per client while its redirect URIs are those that the user agreed to.
alter table oauth_grants add consented_redirect_uris text[];
alter table oauth_grants add consented_at timestamptz not null default now();

-- Scopes that a client has lost. Grants and tokens from before lose them for good, even if the client gets them back.
create table oauth_removed_scopes (
  client_id text not null references oauth_clients on delete cascade,
  scope text not null,
  removed_at timestamptz not null,
  primary key (client_id, scope)
);

create function record_removed_scopes() returns trigger language plpgsql as $$
begin
  insert into oauth_removed_scopes (client_id, scope, removed_at)
    select new.client_id, lost, clock_timestamp() from unnest(old.scopes) as lost where lost <> all(new.scopes)
    on conflict (client_id, scope) do update set removed_at = excluded.removed_at;
  return null;
end $$;
create trigger oauth_client_scopes after update of scopes on oauth_clients
  for each row when (old.scopes is distinct from new.scopes) execute function record_removed_scopes();
