-- For the limit of prepared participations per user.
create index participations_prepared_user on participations (user_id) where status = 'prepared';
