-- Whether a resend was requested while another one was being sent. It is sent after that one, so that a receiver never gets
-- two resends of one delivery at once.
alter table webhook_deliveries add resend_again boolean not null default false;
