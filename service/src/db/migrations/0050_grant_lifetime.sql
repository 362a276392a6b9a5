-- Grants of earlier versions lasted ten years. They end 180 days after the upgrade, so that nobody is signed out by it.
update oauth_grants set expires_at = now() + interval '180 days',
  payload = jsonb_set(payload, '{exp}', to_jsonb(extract(epoch from now() + interval '180 days')::bigint))
where expires_at > now() + interval '180 days';
