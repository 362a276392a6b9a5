-- Users confirm that they have read a document of an offer, such as its risk disclosure, in one exact version.
alter table requirements drop constraint requirements_type_check;
alter table requirements add constraint requirements_type_check check (type in ('identity_verification', 'kyc_approved',
  'accreditation', 'external_wallet', 'whitelisted_wallet', 'document', 'jurisdiction', 'acknowledgement'));

-- Each row is evidence: which text, when, through which client and from which network. There is no foreign key to the offer,
-- because a row must not stop an operator from changing it.
create table acknowledgements (
  id uuid primary key,
  user_id uuid not null references users,
  partner_id uuid not null references partners,
  client_id text not null,
  offer_id uuid not null,
  document text not null,
  name text not null,
  url text not null,
  version text not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  request_id text,
  network text,
  inserted_at timestamptz not null,
  unique (user_id, offer_id, partner_id, document, version, sha256)
);

create constraint trigger acknowledgements_status after insert on acknowledgements
  deferrable initially deferred for each row execute function mark_status_check();

create function audit_acknowledgement() returns trigger language plpgsql as $$
begin
  perform audit('acknowledgement.recorded', audit_object('user', new.user_id::text), audit_object('offer', new.offer_id::text),
    concat_ws(' ', new.id, new.client_id, new.document, new.version, new.sha256));
  return null;
end
$$;
create trigger acknowledgements_audit after insert on acknowledgements
  for each row execute function audit_acknowledgement();

-- Nothing changes or deletes a row. Erasing a user only removes the network.
create function refuse_acknowledgement_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.network is null and to_jsonb(new) - 'network' = to_jsonb(old) - 'network' then return new; end if;
  raise exception 'acknowledgements cannot be changed';
end
$$;
create trigger acknowledgements_fixed before update or delete on acknowledgements
  for each row execute function refuse_acknowledgement_change();
create trigger acknowledgements_kept before truncate on acknowledgements
  for each statement execute function refuse_acknowledgement_change();

-- See 0420: PostgreSQL would look for tables among the temporary ones first.
do $$
declare
  name regprocedure;
begin
  for name in select oid from pg_proc where pronamespace = current_schema()::regnamespace
    and proname in ('audit_acknowledgement', 'refuse_acknowledgement_change')
  loop
    execute format('alter function %s set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end
$$;
