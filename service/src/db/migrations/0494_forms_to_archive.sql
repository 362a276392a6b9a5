-- Forms that have ended without a signature, until the signing provider has archived them too. Their links work until then.
create table forms_to_archive (
  submission_id uuid primary key references document_submissions on delete cascade,
  due_at timestamptz not null default now(),
  lease_until timestamptz,
  inserted_at timestamptz not null default now()
);
create index forms_to_archive_due_at on forms_to_archive (due_at);

create function add_form_to_archive() returns trigger language plpgsql as $$
begin
  insert into forms_to_archive (submission_id) values (new.id) on conflict do nothing;
  return null;
end
$$;
create trigger document_submissions_archive after update of status on document_submissions
  for each row when (old.status <> 'EXPIRED' and new.status = 'EXPIRED') execute function add_form_to_archive();

insert into forms_to_archive (submission_id)
  select id from document_submissions where status = 'EXPIRED' and expires_at > now();
