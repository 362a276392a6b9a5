-- Where a client may send the browser after RP-initiated logout.
alter table oauth_clients add column post_logout_redirect_uris text[] not null default '{}';
