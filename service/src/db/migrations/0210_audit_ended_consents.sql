-- The user ends a consent, or a command or the caller of a request does so; then the entry names the user as well.
create or replace function audit_grant() returns trigger language plpgsql as $$
declare
  granting jsonb := audit_object('user', new.user_id::text);
  client jsonb := audit_object('client', new.client_id);
begin
  if tg_op = 'INSERT' and new.consented_at < now() then
    perform audit('consent.reused', granting, client, new.payload #>> '{openid,scope}');
  elsif tg_op = 'INSERT' or new.consented_at <> old.consented_at then
    perform audit('consent.given', granting, client, new.payload #>> '{openid,scope}');
  elsif old.revoked_at is null and new.revoked_at is not null then
    if audit_system() ->> 'object' = 'service' then
      perform audit('consent.ended', granting, client);
    else
      perform audit('consent.ended', audit_system(), client || jsonb_build_object('user_id', new.user_id));
    end if;
  end if;
  return null;
end
$$;
