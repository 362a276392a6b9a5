-- The block height at which a key was last in use. A key that was out of use for longer must wait as if it were new: another
-- key may have signed meanwhile, even if this database was restored from before that.
alter table operator_keys add column alive_height bigint;
