-- What users need to recognise a signed-in browser, and to sign it out. `network` is shortened, so that it does not name
-- one household. `second_factor` is what confirmed the password.
alter table browser_sessions
  add id uuid not null default gen_random_uuid(),
  add browser text,
  add network text,
  add used_at timestamptz not null default now(),
  add second_factor text check (second_factor in ('totp', 'recovery_code'));
create unique index browser_sessions_id on browser_sessions (id);

-- Secrets of authenticator apps (RFC 6238), sealed. A secret counts once a code has confirmed it. `last_step` is the time
-- step of the last accepted code: no code works twice.
create table totp_secrets (
  user_id uuid primary key references users on delete cascade,
  sealed_secret bytea not null,
  key_id bytea not null generated always as (substring(sealed_secret from 1 for 4)) stored,
  confirmed_at timestamptz,
  last_step bigint not null default 0,
  inserted_at timestamptz not null default now()
);
create index totp_secrets_key_id on totp_secrets (key_id);

-- Hashes of codes that work once in place of the authenticator app.
create table recovery_codes (
  user_id uuid not null references users on delete cascade,
  hash bytea not null,
  primary key (user_id, hash)
);

-- Browsers that have sent the right password and still owe a code. `hash` is of the cookie.
create table pending_sign_ins (
  hash bytea primary key,
  user_id uuid not null references users on delete cascade,
  attempts integer not null default 0,
  expires_at timestamptz not null
);
create index pending_sign_ins_user_id on pending_sign_ins (user_id);
create index pending_sign_ins_expires_at on pending_sign_ins (expires_at);

-- Links that confirm a new address. `registration` is then the sealed address, and `user_id` whose address it becomes.
alter table mail_links
  drop constraint mail_links_purpose_check,
  drop constraint mail_links_check,
  drop constraint mail_links_check1,
  add check (purpose in ('confirm', 'reset', 'change_email')),
  add check ((purpose <> 'reset') = (registration is not null)),
  add check ((purpose <> 'confirm') = (user_id is not null));

create function audit_totp() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform audit('user.second_factor_removed', audit_system(), audit_object('user', old.user_id::text));
    return null;
  end if;
  perform audit('user.second_factor_added', audit_system(), audit_object('user', new.user_id::text));
  return null;
end
$$;
create trigger totp_secrets_audit_added after update of confirmed_at on totp_secrets
  for each row when (old.confirmed_at is null and new.confirmed_at is not null) execute function audit_totp();
create trigger totp_secrets_audit_removed after delete on totp_secrets
  for each row when (old.confirmed_at is not null) execute function audit_totp();

create function audit_email() returns trigger language plpgsql as $$
begin
  perform audit('user.email_changed', audit_system(), audit_object('user', new.id::text));
  return null;
end
$$;
-- Erasure replaces the address with a placeholder and has an entry of its own.
create trigger users_email_audit after update of email on users
  for each row when (old.email <> new.email and new.email not like 'erased-%@erased.invalid') execute function audit_email();

create function audit_erasure() returns trigger language plpgsql as $$
begin
  perform audit('user.erased', audit_system(), audit_object('user', new.user_id::text));
  return null;
end
$$;
create trigger erasures_audit after insert on erasures for each row execute function audit_erasure();
