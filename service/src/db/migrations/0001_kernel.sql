-- Replies to POSTs with an Idempotency-Key. `id` is a hash of (client, user, method, path, key),
-- `request_tag` an HMAC of the body, `outcome` the sealed reply (null while the request runs on `node`).
create table idempotency_keys (
  id bytea primary key,
  request_tag bytea not null,
  node integer not null,
  lease_until timestamptz not null,
  outcome bytea,
  inserted_at timestamptz not null default now()
);
create index idempotency_keys_inserted_at on idempotency_keys (inserted_at);

-- Counters shared between nodes (RATE_LIMITS=postgres). Losing them in a crash is harmless.
create unlogged table rate_limits (
  key text primary key,
  count integer not null,
  window_end timestamptz not null
);
create index rate_limits_window_end on rate_limits (window_end);
