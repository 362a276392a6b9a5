-- Addresses are compared by users_email_ascii only.
drop index users_email;
