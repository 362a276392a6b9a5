-- sign_in_failures counts attempts before the password is checked, and mails too. The service records failed sign-ins.
drop trigger sign_in_failures_audit on sign_in_failures;
drop function audit_sign_in_failure();

-- A hash with newer parameters is no new password.
create or replace function audit_password() returns trigger language plpgsql as $$
begin
  perform audit(case when current_setting('causeway.rehash', true) = 'on' then 'user.password_rehashed'
    else 'user.password_changed' end, audit_object('user', new.id::text), audit_object('user', new.id::text));
  return null;
end
$$;

-- A grant that a new browser gets without a question keeps the time of the consent that it repeats. A consent that adds
-- scopes to a grant changes that time.
create or replace function audit_grant() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' and new.consented_at < now() then
    perform audit('consent.reused', audit_object('user', new.user_id::text), audit_object('client', new.client_id),
      new.payload #>> '{openid,scope}');
  elsif tg_op = 'INSERT' or new.consented_at <> old.consented_at then
    perform audit('consent.given', audit_object('user', new.user_id::text), audit_object('client', new.client_id),
      new.payload #>> '{openid,scope}');
  elsif old.revoked_at is null and new.revoked_at is not null then
    perform audit('consent.ended', audit_object('user', new.user_id::text), audit_object('client', new.client_id));
  end if;
  return null;
end
$$;
drop trigger oauth_grants_audit on oauth_grants;
create trigger oauth_grants_audit after insert or update of revoked_at, consented_at on oauth_grants
  for each row execute function audit_grant();
