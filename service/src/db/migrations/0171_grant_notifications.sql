-- Deleting a grant deletes its tokens, which notify for themselves. Housekeeping deletes thousands of grants without tokens.
drop trigger oauth_grant_deleted on oauth_grants;
