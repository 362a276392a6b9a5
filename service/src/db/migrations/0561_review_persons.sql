-- An approval always has a person: an empty hash until the applicant has been read, then the hash of the person.
alter table identity_reviews add check (answer is distinct from 'GREEN' or person_hash is not null);
