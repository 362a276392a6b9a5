-- Mails to users about what has changed.

-- What users do not want mails about.
create table notice_opt_outs (
  user_id uuid not null references users on delete cascade,
  topic text not null,
  primary key (user_id, topic)
);

-- Changes that users get a mail about, written in the transaction of the change, mostly by triggers, so that no path can
-- forget one. A worker turns them into mails: writers neither render nor notify. A row stays after its mail, so that one
-- occurrence never gives a second mail, for example when a reorganisation repeats a status.
create table notices (
  id bigint generated always as identity primary key,
  user_id uuid not null references users on delete cascade,
  kind text not null,
  occurrence text not null,
  data jsonb not null default '{}',
  written_at timestamptz not null default now(),
  -- When the worker tries again to render a notice that it could not render. Null before the first attempt.
  retry_at timestamptz,
  handled_at timestamptz,
  unique (user_id, kind, occurrence)
);
create index notices_waiting on notices (id) where handled_at is null;
create index notices_handled on notices (handled_at) where handled_at is not null;

-- Neither reasons nor holds are part of a notice: the user must not learn of a hold from a mail.
create function write_participation_notice() returns trigger language plpgsql as $$
begin
  insert into notices (user_id, kind, occurrence, data)
    select new.user_id, 'participation_' || new.status, new.id::text, jsonb_build_object('offer', o.name,
      'partner', p.name, 'amount', new.amount::text, 'digits', new.asset_digits, 'asset', new.asset_code)
    from offers o, partners p where o.id = new.offer_id and p.id = new.partner_id
    on conflict do nothing;
  return null;
end
$$;
create trigger participations_notice_new after insert on participations
  for each row when (new.status = 'pending') execute function write_participation_notice();
-- Only a participation that was accepted before is reported as failed.
create trigger participations_notice after update of status on participations
  for each row when (old.status <> new.status and (new.status in ('pending', 'completed', 'remitted')
    or new.status = 'failed' and old.status in ('pending', 'submitted')))
  execute function write_participation_notice();

create function write_review_notice() returns trigger language plpgsql as $$
begin
  insert into notices (user_id, kind, occurrence, data)
    values (new.user_id, case when new.answer = 'GREEN' then 'review_approved' when new.reject_type = 'FINAL' then 'review_rejected'
      else 'review_action_needed' end, new.level_name || ' ' || coalesce(new.reviewed_at, new.as_of),
      jsonb_build_object('level', new.level_name))
    on conflict do nothing;
  return null;
end
$$;
create trigger identity_reviews_notice_new after insert on identity_reviews
  for each row when (new.review_status in ('completed', 'awaitingUser')) execute function write_review_notice();
create trigger identity_reviews_notice after update on identity_reviews
  for each row when (new.review_status in ('completed', 'awaitingUser')
    and (old.review_status, old.answer, old.reject_type) is distinct from (new.review_status, new.answer, new.reject_type))
  execute function write_review_notice();

create function write_form_notice() returns trigger language plpgsql as $$
begin
  insert into notices (user_id, kind, occurrence, data)
    values (new.user_id, 'form_to_sign', new.id::text,
      jsonb_build_object('until', extract(epoch from new.expires_at) * 1000))
    on conflict do nothing;
  return null;
end
$$;
create trigger document_submissions_notice_new after insert on document_submissions
  for each row when (new.status = 'SENT') execute function write_form_notice();
create trigger document_submissions_notice after update of status on document_submissions
  for each row when (old.status = 'INITIALIZED' and new.status = 'SENT') execute function write_form_notice();
