-- `offer apply` compares a file with the texts that users of the offer have acknowledged, while it locks the offer.
create index acknowledgements_offer on acknowledgements (offer_id, document, version);
