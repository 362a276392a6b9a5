-- Whether a live grant of the user lets the partner use the scope. A scope counts only if the client has it and has not lost
-- it since the user consented.
create function has_granted(grantor uuid, partner uuid, wanted text) returns boolean language sql stable as $$
  select exists (
    select from oauth_grants g join oauth_clients c on c.client_id = g.client_id
    where g.user_id = grantor and c.partner_id = partner and g.revoked_at is null and g.expires_at > now()
      and wanted = any(string_to_array(g.payload #>> '{openid,scope}', ' ')) and wanted = any(c.scopes)
      and not exists (select from oauth_removed_scopes r
        where r.client_id = g.client_id and r.scope = wanted and r.removed_at > g.consented_at))
$$;

-- Without a subquery of its own PostgreSQL inlines it, so an event costs one function call.
create or replace function event_visible(partner uuid, about uuid, type text) returns boolean language sql stable as $$
  select about is null or has_granted(about, partner, event_scope(type))
$$;
