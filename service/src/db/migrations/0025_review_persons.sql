-- A keyed hash of the person (name and date of birth) whom the provider approved. The key is sealed with the user's personal
-- data. Empty until the applicant has been read after the approval; null for other answers, and for approvals of version 0.1.
alter table identity_reviews add column person_hash bytea;
