-- The scope that a reader of events about a user needs. An unknown type gives null, and is shown to nobody.
create function event_scope(type text) returns text language sql immutable as $$
  select case split_part(type, '.', 1)
    when 'participation' then 'participations:read'
    when 'requirement' then 'requirements:read'
    when 'document_submission' then 'documents:write'
    when 'wallet' then 'wallets:read'
    when 'tokenized_swap' then 'swaps:read'
  end
$$;

-- Whether the partner may read the event: it is about no user, or the user's live grant to the partner has its scope.
create function event_visible(partner uuid, about uuid, type text) returns boolean language sql stable as $$
  select about is null or exists (
    select from oauth_grants g join oauth_clients c on c.client_id = g.client_id
    where g.user_id = about and c.partner_id = partner and g.revoked_at is null and g.expires_at > now()
      and event_scope(type) = any(string_to_array(g.payload #>> '{openid,scope}', ' ')))
$$;

-- The ids of deleted events, so that a reader who resumes from one learns that events are gone.
create table expired_events (
  id uuid primary key,
  partner_id uuid not null,
  user_id uuid,
  expired_at timestamptz not null default now()
);
create index expired_events_expired_at on expired_events (expired_at);
