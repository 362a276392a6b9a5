-- Housekeeping finds the rows it deletes or clears through these indexes.
create index oauth_grants_revoked_at on oauth_grants (revoked_at) where revoked_at is not null;
create index oauth_grants_inserted_at on oauth_grants (inserted_at);
create index pii_restricted_until on pii (restricted_until) where restricted_until is not null;
create index tokenized_orders_claimed on tokenized_orders (inserted_at)
  where claim is not null and state = 'executed';
