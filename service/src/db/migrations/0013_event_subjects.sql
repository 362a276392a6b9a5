-- The history of one thing, which an operator asks for by its id.
create index events_subject on events ((data ->> 'id'), written) where data ->> 'id' is not null;
