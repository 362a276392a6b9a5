-- In one sale almost all rows have the same offer and the same status. The server, finding one value, would take every
-- index for as good as the one that a list is read by, and go through all rows for those that are not there. These are
-- the numbers of values that it shall reckon with, whatever it finds.
alter table participations alter column status set (n_distinct = 8);
alter table participations alter column offer_id set (n_distinct = 1000);
alter table participations alter column offer_option_id set (n_distinct = 1000);
analyze participations;
