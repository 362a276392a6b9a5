-- Every sign-in stores the network.
alter table browser_sessions alter network set not null;
